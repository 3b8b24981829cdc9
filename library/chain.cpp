#include "library/chain.hpp"

#include "analysis/regions_file.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "config/outputs.hpp"
#include "pipeline/counts.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace specklescope::library {

namespace {

std::size_t place_of_name(const Chain& chain, std::string_view name) {
    std::string names;
    std::size_t place = 0, found = 0;
    for (std::size_t i = 0; i < chain.stages().size(); ++i) {
        const std::string_view own = chain.stages()[i].type->name;
        names += (names.empty() ? "" : ", ") + std::string(own);
        if (own == name) {
            place = i;
            ++found;
        }
    }
    if (found == 1)
        return place;
    throw UsageError(std::string("The chain has ") + (found > 1 ? "several stages '" : "no stage '") +
                     std::string(name) + "'; it is made of " + (names.empty() ? "none" : names) +
                     ": give one's place, counted from 0.");
}

/// The stages up to the one that gives this image.
Chain part_with(const Chain& chain, const std::string& image) {
    Chain part;
    part.set_channel(chain.channel());
    const std::vector<ChainOutput> also = chain.also();
    const auto found = std::find_if(also.begin(), also.end(),
                                    [&](const ChainOutput& one) { return one.output.name == image; });
    for (std::size_t i = 0; i <= found->stage; ++i)
        part.add(chain.stages()[i]);
    return part;
}

} // namespace

StagePlace stage_named(std::string_view text) {
    if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos)
        return text;
    std::size_t place = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), place).ec != std::errc())
        return text; // too large for an index: keep the given text for the error
    return place;
}

std::size_t place_of(const Chain& chain, const StagePlace& stage) {
    if (const auto* name = std::get_if<std::string_view>(&stage))
        return place_of_name(chain, *name);
    const std::size_t place = std::get<std::size_t>(stage);
    if (place >= chain.stages().size())
        throw UsageError("There is no stage number " + std::to_string(place) + " in the chain; it has " +
                         std::to_string(chain.stages().size()) + ", counted from 0.");
    return place;
}

Values values_of(std::string_view text) {
    Values values;
    for_key_values(text, "The values", [&](std::string_view name, const std::string& value) {
        values.emplace_back(name, value);
    });
    return values;
}

void set_values(ChainStage& stage, const Values& values) {
    for (const auto& [name, value] : values)
        stage.params.set_text(name, value);
}

Shape check_runs(const Chain& chain, const Shape& input) {
    const std::unique_ptr<Executor> trial = make_host_executor(0);
    trial->set_chain(std::make_shared<const Chain>(chain), 0);
    trial->prepare(input, true);
    return trial->output().value();
}

bool in_place(const Chain& chain) {
    const Chain computed = active(chain);
    return std::none_of(computed.stages().begin(), computed.stages().end(),
                        [](const ChainStage& stage) { return stage.type->moves_pixels; });
}

ChainObject::ChainObject(Chain chain, const Settings& settings, const Watcher& watcher)
    : watcher_(watcher), threads_(settings.program.as<ProgramSettings>().executor.threads),
      medians_(settings.program.as<ProgramSettings>().medians),
      channel_(settings.program.as<ProgramSettings>().channel),
      show_(settings.program.as<ProgramSettings>().show) {
    const auto& program = settings.program.as<ProgramSettings>();
    // The executor's own limit applies to the whole process, ThreadLimit to this thread.
    const std::string& gpus = program.executor.gpus;
    if (!gpus.empty() && gpus.find_first_not_of("0123456789") != std::string::npos)
        throw UsageError("gpus=" + gpus + " is not possible for a chain; allowed: one GPU, counted from 0.");
    executor_ = make_executor({.backend = program.executor.backend, .gpus = gpus, .guest = true}, nullptr);
    callers_memory_ = executor_->callers_memory();
    take(std::move(chain));
    executor_->set_chain(std::make_shared<const Chain>(wanted_), version_);
    applied_ = wanted_;
    applied_version_ = version_;
    const std::vector<Region> regions = settings.regions                ? *settings.regions
                                        : settings.regions_path.empty() ? std::vector<Region>()
                                                                        : load_regions(settings.regions_path);
    if (!regions.empty())
        wanted_regions_ = make_outlines(regions, medians_);
}

void ChainObject::set_regions(std::vector<Region> regions) {
    auto outlines = regions.empty() ? nullptr : make_outlines(std::move(regions), medians_);
    const std::scoped_lock lock(edits_);
    wanted_regions_ = std::move(outlines);
    ++version_;
}

std::vector<Region> ChainObject::regions() const {
    const std::scoped_lock lock(edits_);
    return wanted_regions_ ? regions_of(*wanted_regions_) : std::vector<Region>();
}

void ChainObject::take(Chain next) {
    next.set_channel(channel_);
    (void)settled(next); // throws if the stages do not fit each other
    wanted_ = std::move(next);
    ++version_;
}

void ChainObject::copy(Chain stages) {
    const std::scoped_lock lock(edits_);
    take(std::move(stages));
    if (begun_)
        return;
    version_ = applied_version_;
    executor_->set_chain(std::make_shared<const Chain>(wanted_), version_);
    applied_ = wanted_;
}

Shape ChainObject::returned(const Chain& chain, const Shape& input, const Shape& last) const {
    if (show_.empty())
        return last;
    (void)quantity_of_output(show_, chain);
    const Shape shape = check_runs(part_with(chain, show_), input);
    return {shape.width, shape.height, 1, PixelType::f32};
}

void ChainObject::agree(const Chain& next, const Shape& output) const {
    if (!watcher_.agrees)
        return;
    specklescope_image image = to_c(output);
    image.struct_size = sizeof image;
    if (watcher_.agrees(watcher_.user, &image, in_place(next) ? 1 : 0) == 0)
        throw UsageError("The edit is refused: results would be " + to_string(output) +
                         ", which the caller does not take; keep their shape.");
}

/// Checks pending edits on this input shape, not on the last one.
void ChainObject::fit(const Shape& input) {
    Chain next;
    std::uint64_t version = 0;
    {
        const std::scoped_lock lock(edits_);
        begun_ = true;
        version = version_;
        if (version != applied_version_)
            next = wanted_;
    }
    if (version == applied_version_ && shape_ == input)
        return;
    const Asking asking(watcher_);
    if (version == applied_version_)
        return move_to(input);
    Shape made = returned_; // the chain may differ only in free parameters
    try {
        if (shape_ != input) {
            made = returned(next, input, check_runs(next, input));
            agree(next, made); // a refusal keeps the old plan and its histories
            set_anew(next, version, input);
        } else {
            executor_->set_agreement([&](const Shape& output) {
                made = returned(next, input, output);
                agree(next, made);
            });
            executor_->set_chain(std::make_shared<const Chain>(next), version);
            executor_->set_agreement(nullptr);
            executor_->prepare(input, true);
        }
    } catch (...) {
        executor_->set_agreement(nullptr);
        const std::scoped_lock lock(edits_);
        if (version_ == version) { // there is no newer edit
            wanted_ = applied_;
            version_ = applied_version_;
        }
        throw;
    }
    shape_ = input;
    returned_ = made;
    const std::scoped_lock lock(edits_);
    applied_ = std::move(next);
    applied_version_ = version;
}

/// Call after fit(): regions are placed on the results. If there are too many, the old ones stay.
void ChainObject::fit_regions() {
    std::shared_ptr<const RegionOutlines> next;
    {
        const std::scoped_lock lock(edits_);
        next = wanted_regions_;
    }
    if (next == applied_regions_)
        return;
    try {
        executor_->set_regions(next, applied_version_);
    } catch (...) {
        const std::scoped_lock lock(edits_);
        if (wanted_regions_ == next) // there are no newer regions
            wanted_regions_ = applied_regions_;
        throw;
    }
    applied_regions_ = std::move(next);
}

/// If the chain cannot run on it, the executor stays prepared for the last shape.
void ChainObject::move_to(const Shape& input) {
    Shape made;
    try {
        executor_->prepare(input, true);
        made = returned(applied_, input, executor_->output().value());
    } catch (...) {
        const Unasked putting_back;
        if (shape_)
            executor_->prepare(*shape_, true);
        throw;
    }
    shape_ = input;
    returned_ = made;
}

/// Changes chain and shape together, by way of an empty chain, which runs on all shapes.
void ChainObject::set_anew(const Chain& next, std::uint64_t version, const Shape& input) {
    const auto set = [&](const Chain& chain, std::uint64_t number, const Shape& shape) {
        executor_->set_chain(std::make_shared<const Chain>(), number);
        executor_->prepare(shape, true);
        executor_->set_chain(std::make_shared<const Chain>(chain), number);
        executor_->prepare(shape, true);
    };
    try {
        set(next, version, input);
    } catch (...) { // this backend cannot run it, or the caller has cancelled
        const Unasked putting_back;
        if (shape_)
            set(applied_, applied_version_, *shape_);
        throw;
    }
}

Shape ChainObject::output(const Shape& input) {
    const ThreadLimit limit(threads_);
    fit(input);
    fit_regions();
    return returned_;
}

void ChainObject::process(const Place& input, const FrameInfo& facts, const Place& output, bool wait) {
    if (input.on_device)
        executor_->check_device(input.device(), "The input");
    if (output.on_device)
        executor_->check_device(output.device(), "The output");
    if (input.on_device == output.on_device && overlap(input.host(), output.host()))
        throw UsageError("The output shares memory with the input; give it memory of its own.");
    if (output.on_device && !show_.empty())
        throw UsageError("The image of show=" + show_ + " is returned on the host; give host memory for it.");
    const Shape made = this->output(input.shape);
    if (output.shape != made)
        throw UsageError("The output is " + to_string(output.shape) + ", and the chain makes " +
                         to_string(made) + " of this input; give it memory of that shape.");
    FrameInfo info = facts;
    info.sequence = frames_;
    info.arrival = SteadyClock::now();
    info.discontinuity = std::exchange(gap_, false) || facts.discontinuity;
    const ThreadLimit limit(threads_);
    while (executor_->in_flight() >= executor_->capacity())
        collect();
    ++frames_;
    submit(input, info, output);
    if (wait || !input.on_device || !output.on_device)
        (void)last();
    if (!output.on_device && made_.host().data != output.data)
        copy_pixels(made_.host(), output.host());
    made_.reset();
}

void ChainObject::submit(const Place& input, const FrameInfo& info, const Place& output) {
    Frame frame = input.frame(); // executors only read it
    frame.info() = info;
    /// The executor never keeps the caller's memory.
    struct Lending {
        Executor& executor;
        ~Lending() { executor.forget_caller(); }
    };
    const Lending lending{*executor_};
    CallersStreams streams;
    if (input.on_device)
        streams.of_input = input.stream;
    if (output.on_device)
        streams.of_output = output.stream;
    executor_->order_with(streams);
    if (show_.empty())
        executor_->lend_result(output.frame());
    executor_->submit(std::move(frame), !output.on_device || !applied_.also().empty());
}

/// Collects the oldest result in flight; its pixels on the host become made_.
void ChainObject::collect() {
    Result result = executor_->collect(true).value();
    result.counts = counts_of(result.info, result.counts);
    also_ = results_also(result);
    if (!show_.empty())
        result = named_result(result, show_).value();
    made_ = std::move(result.image);
    result.raw.reset();
    result.device_image.reset();
    last_ = std::move(result);
}

const Result& ChainObject::last() {
    while (executor_->in_flight() > 0)
        collect();
    return last_;
}

} // namespace specklescope::library
