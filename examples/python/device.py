"""PyTorch tensors in and out, and results of a stream: images stay on the GPU, in the order of the current CUDA stream."""
import specklescope as ss

try:
    import torch
except ImportError:
    raise SystemExit("PyTorch is not installed: CuPy's arrays, or any with __cuda_array_interface__, do as well.")
if not torch.cuda.is_available():
    raise SystemExit("PyTorch finds no GPU.")
chain = ss.Chain("speckle:radius=3,output=contrast", backend="cuda")
frames = torch.randint(0, 200, (10, 480, 640), dtype=torch.uint8, device="cuda")
contrast = torch.stack([chain(frame) for frame in frames])
print(contrast.device, tuple(contrast.shape), f"K = {contrast.mean().item():.4f}")
with ss.open("synthetic:vessels?live=false", frames=20, backend="cuda", memory="device") as stream:
    means = [torch.from_dlpack(frame.data).mean() for frame in stream.chain(chain)]
print(len(means), "results of a stream", f"K = {torch.stack(means).mean().item():.4f}")
