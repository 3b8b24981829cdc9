// Many launches of kernels as one: for small frames, whose launches take longer than their kernels. Inside
// cuda/ only.
#pragma once

#include "cuda/device.hpp"

namespace specklescope::cuda {

class LaunchGraph {
public:
    LaunchGraph() = default;
    LaunchGraph(const LaunchGraph&) = delete;
    LaunchGraph& operator=(const LaunchGraph&) = delete;
    ~LaunchGraph() { forget(); }

    /// Calls launch(), which only enqueues kernels and memset operations on `stream`, and starts them. The
    /// graph of the last call is reused with the new parameters if it has the same kernels in the same order.
    template <class F> void run(const Stream& stream, F&& launch) {
        check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal),
              "cudaStreamBeginCapture");
        cudaGraph_t graph = nullptr;
        try {
            launch();
        } catch (...) {
            (void)cudaStreamEndCapture(stream.get(), &graph);
            destroy(graph);
            throw;
        }
        check(cudaStreamEndCapture(stream.get(), &graph), "cudaStreamEndCapture");
        try {
            if (!update(graph)) {
                forget();
                check(cudaGraphInstantiateWithFlags(&ready_, graph, 0), "cudaGraphInstantiate");
            }
            check(cudaGraphLaunch(ready_, stream.get()), "cudaGraphLaunch");
        } catch (...) {
            destroy(graph);
            throw;
        }
        destroy(graph);
    }

private:
    bool update(cudaGraph_t graph) {
        if (!ready_)
            return false;
#if CUDART_VERSION >= 12000
        cudaGraphExecUpdateResultInfo why{};
        const cudaError_t status = cudaGraphExecUpdate(ready_, graph, &why);
#else
        cudaGraphNode_t node{};
        cudaGraphExecUpdateResult why{};
        const cudaError_t status = cudaGraphExecUpdate(ready_, graph, &node, &why);
#endif
        if (status == cudaErrorGraphExecUpdateFailure) {
            (void)cudaGetLastError();
            return false;
        }
        check(status, "cudaGraphExecUpdate");
        return true;
    }

    static void destroy(cudaGraph_t graph) {
        if (graph)
            log_failure(cudaGraphDestroy(graph), "cudaGraphDestroy");
    }
    /// Waits for nothing: a graph that still runs is freed when it has ended.
    void forget() {
        if (ready_)
            log_failure(cudaGraphExecDestroy(std::exchange(ready_, nullptr)), "cudaGraphExecDestroy");
    }

    cudaGraphExec_t ready_ = nullptr;
};

} // namespace specklescope::cuda
