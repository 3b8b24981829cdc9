// Fit of the multi-exposure model, written once for scalars (mesi_fit.hpp) and for vectors of each
// instruction set (simd/mesi_row.cpp), which include it into their namespaces. Every operation is rounded as
// named, so that all of them give the same bits.

/// Least squares for K² = β·m(x) + ν, x = T·rate, m = ρ²·A + 4ρ(1 − ρ)·B + (1 − ρ)² with
/// B(x) = (e^−x − 1 + x)/x² and A = 2·B(2x) (Parthasarathy 2008). Parameters: ln rate, ρ and, if they are
/// free, β and ν. `O`: MesiScalar, or the same for vectors. `Sample`: sample(i) is K² of exposure i, NaN if
/// it is missing; i < sample.end(), which may be more than the exposures.
template <class O, bool kBeta, bool kNoise> class MesiSolver {
    using V = typename O::V;
    using M = typename O::M;

public:
    /// Parameters of a fit.
    struct Point {
        V rate, rho, beta, noise;
    };

private:
    static constexpr int kFitted = 2 + (kBeta ? 1 : 0) + (kNoise ? 1 : 0);
    static constexpr float kLeastBeta = 1e-4F;

    /// Sums over the samples: of the residual r and of the derivatives by ν (1), β (m), ρ (p) and ln rate
    /// (t), the last two without their factor β.
    struct Sums {
        V cost;
        V r, rm, rp, rt;
        V p, t, mm, mp, mt, pp, pt, tt;
        V rpp, rpt, rtt; ///< of r times the second derivatives
    };
    struct Step {
        V shift;  ///< of β or ν, which is linear: to its best value here
        V saved;  ///< of the cost, by the shift
        V linear; ///< of β or ν, from there
        V rho, log_rate;
        V enough; ///< a step of this size ends the fit: Newton's step squares the error
        V fall;   ///< expected decrease of the cost
        V pivot;  ///< 1/pivot: the variance of β·ln rate for residuals of variance 1
    };

    SPECKLESCOPE_BOTH static V set(float v) { return O::set(v); }

    /// e^a; |a| up to 87. The sum with 1.5·2^23 rounds to a whole number, and has it in its last bits.
    SPECKLESCOPE_BOTH static V exponential(V a) {
        const V whole = O::fma(a, set(1.44269504F), set(12582912));
        const V f = O::fma(a, set(1.44269504F), O::sub(set(12582912), whole));
        V e = O::fma(set(0.00133908633F), f, set(0.00967603177F));
        e = O::fma(e, f, set(0.0555035695F));
        e = O::fma(e, f, set(0.240221068F));
        e = O::fma(e, f, set(0.693147182F));
        e = O::fma(e, f, set(1.00000012F));
        return O::scaled(e, whole);
    }
    /// B(x) for x up to 1.
    SPECKLESCOPE_BOTH static V short_b(V x) {
        V b = O::fma(set(-0.000137424184F), x, set(0.001324818F));
        b = O::fma(b, x, set(-0.00830117054F));
        b = O::fma(b, x, set(0.0416592546F));
        b = O::fma(b, x, set(-0.166666031F));
        return O::fma(b, x, set(0.5F));
    }

    SPECKLESCOPE_BOTH static Sums none(V cost) {
        const V zero = set(0);
        return {cost, zero, zero, zero, zero, zero, zero, zero,
                zero, zero, zero, zero, zero, zero, zero, zero};
    }

    /// With w = 1 − x·B = (1 − e^−x)/x the model is m = (4ρ − 3ρ²)·B + ρ²·w²/2 + (1 − ρ)². The derivatives by
    /// ln x are B' = w − 2B, w' = e^−x − w, B" = w' − 2B' and w" = −x·e^−x − w'.
    template <bool Missing, class Sample>
    SPECKLESCOPE_BOTH static Sums evaluate(const MesiTask& task, const Sample& sample, const Point& point) {
        const V zero = set(0);
        const V one = set(1);
        const V two = set(2);
        const V still = O::sub(one, point.rho);
        const V fixed = O::mul(still, still);
        const V fixed_p = O::mul(set(-2), still);
        const V square = O::mul(point.rho, point.rho);
        const V half_square = O::mul(set(0.5F), square);
        const V single = O::less_product(O::mul(set(4), point.rho), set(3), square); // factor of B
        const V single_p = O::less_product(set(4), set(6), point.rho);
        const V twice_rho = O::add(point.rho, point.rho);
        const V time = O::inverse(point.rate);
        Sums s = none(zero);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int i = 0; i < sample.end(); ++i) {
            const V x = O::mul(point.rate, set(task.exposures[i]));
            const V inverse = O::mul(time, set(task.inverses[i]));
            const V e = exponential(O::larger(O::sub(zero, x), set(-80)));
            const M small = O::less(x, one);
            const V series = short_b(x);
            const V long_w = O::mul(O::sub(one, e), inverse);
            const V w = O::select(small, O::less_product(one, x, series), long_w);
            const V b = O::select(small, series, O::mul(O::sub(one, long_w), inverse));
            const V w_t = O::sub(e, w);
            const V b_t = O::less_product(w, two, b);
            const V ww = O::mul(w, w);
            const V ww_t = O::mul(w, w_t); // half of the derivative
            V m = O::fma(single, b, O::fma(half_square, ww, fixed));
            V p = O::fma(single_p, b, O::fma(point.rho, ww, fixed_p));
            V t = O::fma(single, b_t, O::mul(square, ww_t));
            const V value = sample(i);
            V r = O::sub(O::less_product(value, point.beta, m), point.noise);
            if (Missing) {
                const M there = O::defined(value);
                r = O::select(there, r, zero);
                m = O::select(there, m, zero);
                p = O::select(there, p, zero);
                t = O::select(there, t, zero);
            }
            s.cost = O::fma(r, r, s.cost);
            s.rp = O::fma(r, p, s.rp);
            s.rt = O::fma(r, t, s.rt);
            s.pp = O::fma(p, p, s.pp);
            s.pt = O::fma(p, t, s.pt);
            s.tt = O::fma(t, t, s.tt);
            const V b_tt = O::less_product(w_t, two, b_t);
            const V w_tt = O::less_product(O::sub(zero, w_t), x, e);
            const V ww_tt = O::fma(w_t, w_t, O::mul(w, w_tt));
            s.rpp = O::fma(r, O::less_product(O::add(ww, two), set(6), b), s.rpp);
            s.rpt = O::fma(r, O::fma(single_p, b_t, O::mul(twice_rho, ww_t)), s.rpt);
            s.rtt = O::fma(r, O::fma(single, b_tt, O::mul(square, ww_tt)), s.rtt);
            if (kBeta) {
                s.rm = O::fma(r, m, s.rm);
                s.mm = O::fma(m, m, s.mm);
                s.mp = O::fma(m, p, s.mp);
                s.mt = O::fma(m, t, s.mt);
            }
            if (kNoise) {
                s.r = O::add(s.r, r);
                s.p = O::add(s.p, p);
                s.t = O::add(s.t, t);
            }
        }
        return s;
    }

    /// Larger than rounding in the elimination of `diagonal`.
    SPECKLESCOPE_BOTH static V pivot(V left, V diagonal) {
        return O::larger(left, O::fma(set(1e-7F), diagonal, set(1e-30F)));
    }

    /// Newton's step where the sums are convex, else the step of Gauss and Newton.
    SPECKLESCOPE_BOTH static Step solve(const Sums& s, V used, V rho, V beta) {
        V pp = s.pp;
        V tt = s.tt;
        V pt = s.pt;
        V rp = s.rp;
        V rt = s.rt;
        // Eliminates the linear parameter.
        const V l_r = kBeta ? s.rm : s.r;
        const V l_p = kBeta ? s.mp : s.p;
        const V l_t = kBeta ? s.mt : s.t;
        const V l_inverse = O::inverse(kBeta ? s.mm : used);
        if (kBeta || kNoise) {
            const V p = O::mul(l_p, l_inverse);
            const V t = O::mul(l_t, l_inverse);
            pp = O::less_product(pp, p, l_p);
            pt = O::less_product(pt, p, l_t);
            tt = O::less_product(tt, t, l_t);
            rp = O::less_product(rp, p, l_r);
            rt = O::less_product(rt, t, l_r);
        }
        pp = pivot(pp, s.pp);
        Step step{};
        step.pivot = pivot(O::less_product(tt, O::mul(pt, O::inverse(pp)), pt), s.tt);
        step.shift = kBeta || kNoise ? O::mul(l_r, l_inverse) : set(0);
        step.saved = kBeta || kNoise ? O::mul(l_r, step.shift) : set(0);
        const V per_beta = O::inverse(kBeta ? O::larger(O::add(beta, step.shift), set(kLeastBeta)) : beta);
        const V pp2 = O::less_product(pp, s.rpp, per_beta);
        const V pt2 = O::less_product(pt, s.rpt, per_beta);
        const V tt2 = O::less_product(tt, s.rtt, per_beta);
        const V pivot2 = O::less_product(tt2, O::mul(pt2, O::inverse(pp2)), pt2);
        const M convex =
            O::both(O::less(O::mul(set(0.1F), pp), pp2), O::less(O::mul(set(0.1F), step.pivot), pivot2));
        const V p_inverse = O::inverse(O::select(convex, pp2, pp));
        pt = O::select(convex, pt2, pt);
        V by_t =
            O::div(O::less_product(rt, O::mul(pt, p_inverse), rp), O::select(convex, pivot2, step.pivot));
        V by_p = O::mul(O::less_product(rp, pt, by_t), p_inverse);
        // No light is more than all: ρ stays at 1 if the samples ask for more.
        const M ends = O::without(O::less(set(0), by_p), O::less(rho, set(1)));
        by_t = O::select(ends, O::div(rt, O::select(O::less(O::mul(set(0.1F), tt), tt2), tt2, tt)), by_t);
        by_p = O::select(ends, set(0), by_p);
        step.enough = O::select(convex, set(1e-3F), set(4e-5F));
        step.fall = O::fma(by_t, rt, O::mul(by_p, rp));
        if (kBeta || kNoise)
            step.linear = O::sub(set(0), O::mul(O::fma(l_p, by_p, O::mul(l_t, by_t)), l_inverse));
        step.log_rate = O::mul(by_t, per_beta);
        step.rho = O::mul(by_p, per_beta);
        return step;
    }

    /// 68 % interval of Student's distribution, in standard deviations; within 0.3 %.
    SPECKLESCOPE_BOTH static V student(V freedom) {
        const V u = O::inverse(freedom);
        const V t = O::fma(u, O::fma(u, set(0.077F), set(0.26F)), set(0.5F));
        return O::fma(t, u, set(1));
    }
    SPECKLESCOPE_BOTH static Point select(M mask, const Point& yes, const Point& no) {
        return {O::select(mask, yes.rate, no.rate), O::select(mask, yes.rho, no.rho),
                kBeta ? O::select(mask, yes.beta, no.beta) : no.beta,
                kNoise ? O::select(mask, yes.noise, no.noise) : no.noise};
    }
    SPECKLESCOPE_BOTH static Step select(M mask, const Step& yes, const Step& no) {
        return {no.shift,
                no.saved,
                kBeta || kNoise ? O::select(mask, yes.linear, no.linear) : no.linear,
                O::select(mask, yes.rho, no.rho),
                O::select(mask, yes.log_rate, no.log_rate),
                O::select(mask, yes.enough, no.enough),
                O::select(mask, yes.fall, no.fall),
                O::select(mask, yes.pivot, no.pivot)};
    }
    SPECKLESCOPE_BOTH static M never() { return O::less(set(1), set(0)); }

public:
    /// A fit in progress.
    struct State {
        Point at;   ///< the best so far
        V cost;     ///< there
        Step step;  ///< from there
        Point next; ///< `part` of the step further
        V part;
        V floor; ///< cost that rounding leaves
        V used, iterations;
        M open, done;
    };

    /// The best of the starts. A missing sample counts as its neighbour here.
    template <class Sample> SPECKLESCOPE_BOTH static Point start(const MesiTask& task, const Sample& sample) {
        V last = set(0);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int i = sample.end() - 1; i >= 0; --i) {
            const V value = sample(i);
            last = O::select(O::defined(value), value, last);
        }
        V values[Sample::kMost];
        V total = set(0);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int i = 0; i < sample.end(); ++i) {
            const V value = sample(i);
            last = O::select(O::defined(value), value, last);
            values[i] = last;
            if (i < task.count)
                total = O::add(total, last);
        }
        Point best{set(task.slowest), set(1), set(task.beta), set(task.noise)};
        V best_score = set(-1e30F);
        V mean = set(0);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (const MesiStart& one : task.starts) {
            V score = set(-one.offset);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
            for (int i = 0; i < sample.end(); ++i) {
                score = O::fma(values[i], set(one.weights[i]), score);
            }
            const M better = O::less(best_score, score);
            best_score = O::select(better, score, best_score);
            best.rate = O::select(better, set(one.rate), best.rate);
            best.rho = O::select(better, set(one.rho), best.rho);
            if (kBeta)
                best.beta = O::select(better, set(one.scale), best.beta);
            if (kNoise)
                mean = O::select(better, set(one.mean), mean);
        }
        if (kBeta)
            best.beta = O::larger(O::mul(best.beta, best_score), set(kLeastBeta));
        if (kNoise)
            best.noise =
                O::less_product(O::mul(total, set(1.0F / static_cast<float>(task.count))), best.beta, mean);
        return best;
    }

    template <class Sample> SPECKLESCOPE_BOTH static State begin(const Point& start, const Sample& sample) {
        V used = set(0);
        V squares = set(0);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int i = 0; i < sample.end(); ++i) {
            const V value = sample(i);
            const M there = O::defined(value);
            used = O::add(used, O::select(there, set(1), set(0)));
            squares = O::select(there, O::fma(value, value, squares), squares);
        }
        State s{};
        s.at = s.next = start;
        s.cost = set(3e38F);
        s.step = {set(0), set(0), set(0), set(0), set(0), set(0), set(0), set(1)};
        s.part = set(1);
        s.floor = O::mul(squares, set(1e-13F));
        s.used = used;
        s.iterations = set(0);
        s.open = O::less(set(kFitted - 0.5F), used);
        s.done = never();
        return s;
    }

    /// An iteration of the open fits.
    template <bool Missing, class Sample>
    SPECKLESCOPE_BOTH static void advance(const MesiTask& task, const Sample& sample, State& s) {
        const Sums there = evaluate<Missing>(task, sample, s.next);
        s.iterations = O::select(s.open, O::add(s.iterations, set(1)), s.iterations);
        const Step step = solve(there, s.used, s.next.rho, s.next.beta);
        const V cost = O::larger(O::sub(there.cost, step.saved), set(0));
        const M falls = O::both(s.open, O::less(cost, O::fma(s.cost, set(1.0001F), s.floor)));
        // Otherwise a shorter step: a parabola through the costs at its ends and its slope at the first.
        const V fall = O::mul(s.step.fall, s.part);
        const V bend = O::larger(O::fma(set(2), fall, O::sub(cost, s.cost)), set(1e-30F));
        const V lowest = O::mul(fall, O::inverse(bend));
        const V shorter = O::mul(s.part, O::smaller(O::larger(lowest, set(0.1F)), set(0.5F)));
        if (kBeta)
            s.next.beta = O::larger(O::add(s.next.beta, step.shift), set(kLeastBeta));
        if (kNoise)
            s.next.noise = O::add(s.next.noise, step.shift);
        s.at = select(falls, s.next, s.at);
        s.cost = O::select(falls, cost, s.cost);
        s.step = select(falls, step, s.step);
        // A step of more than e-fold or half of the range of ρ leaves the range of the derivatives.
        const V size = O::larger(O::magnitude(s.step.log_rate), O::mul(set(2), O::magnitude(s.step.rho)));
        s.part = O::select(falls, O::inverse(O::larger(size, set(1))), shorter);
        s.next = stepped(task, s);
        const M small = O::either(O::less(size, s.step.enough),
                                  O::less(s.step.fall, O::fma(s.cost, set(1e-8F), s.floor)));
        const M ends = O::both(falls, small);
        s.at = select(ends, s.next, s.at);
        s.done = O::either(s.done, ends);
        s.open = O::both(O::without(s.open, ends),
                         O::less(s.iterations, set(static_cast<float>(task.iterations))));
    }

    SPECKLESCOPE_BOTH static MesiFit<V> result(const MesiTask& task, const State& s) {
        // At an end of its range a parameter does not come from the samples.
        const M inside =
            O::both(O::less(set(task.slowest), s.at.rate), O::less(s.at.rate, set(task.fastest)));
        const M speckle = kBeta ? O::less(set(kLeastBeta), s.at.beta) : O::less(set(0), set(1));
        const M done = O::both(s.done, O::both(inside, speckle));
        const V none = set(NAN);
        const V freedom = O::sub(s.used, set(kFitted));
        const V cost = O::larger(O::sub(s.cost, s.step.fall), set(0)); // after the last step
        const V variance = O::div(cost, O::mul(freedom, s.step.pivot));
        const V deviation = O::div(O::root(variance), s.at.beta);
        const M spare = O::both(done, O::less(set(0.5F), freedom));
        MesiFit<V> fit;
        fit.rate = O::select(done, s.at.rate, none);
        fit.rho = O::select(done, s.at.rho, none);
        fit.beta = O::select(done, s.at.beta, none);
        fit.noise = O::select(done, s.at.noise, none);
        fit.residual = O::select(done, O::root(O::div(cost, s.used)), none);
        fit.error = O::select(spare, O::mul(O::mul(s.at.rate, deviation), student(freedom)), none);
        fit.iterations = s.iterations;
        fit.used = s.used;
        return fit;
    }

    template <class Sample>
    SPECKLESCOPE_BOTH static MesiFit<V> fit(const MesiTask& task, const Sample& sample) {
        State state = begin(start(task, sample), sample);
        if (O::any(O::less(state.used, set(static_cast<float>(sample.end())))))
            while (O::any(state.open))
                advance<true>(task, sample, state);
        else
            while (O::any(state.open))
                advance<false>(task, sample, state);
        return result(task, state);
    }

private:
    SPECKLESCOPE_BOTH static Point stepped(const MesiTask& task, const State& s) {
        Point next = s.at;
        next.rho = O::smaller(O::larger(O::fma(s.step.rho, s.part, s.at.rho), set(0.01F)), set(1));
        // The first fall of K² is ρ·rate·T: along it, ρ and rate change together.
        const V turn = O::mul(O::fma(s.step.rho, O::inverse(s.at.rho), s.step.log_rate), s.part);
        next.rate = O::mul(O::mul(s.at.rate, O::div(s.at.rho, next.rho)),
                           exponential(O::smaller(O::larger(turn, set(-2)), set(2))));
        next.rate = O::smaller(O::larger(next.rate, set(task.slowest)), set(task.fastest));
        if (kBeta)
            next.beta = O::larger(O::fma(s.step.linear, s.part, s.at.beta), set(kLeastBeta));
        if (kNoise)
            next.noise = O::fma(s.step.linear, s.part, s.at.noise);
        return next;
    }
};
