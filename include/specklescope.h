/* Specklescope as a library: stages, chains of them, and any SOURCE as a stream of results. The program
 * computes with the same functions: a chain gives the same bytes here and there.
 *
 * Calls. Every call that can fail returns a status; specklescope_last_error() then returns one message: the
 * problem, the allowed values, what to do. No exception leaves the library, and it writes nothing to the
 * terminal.
 *
 * Handles. A handle is a key of a table, not an address: a handle that has ended or never existed is refused
 * and does no harm. Every handle must be ended by its own call.
 *
 * Structs. The first member is the size that the caller knows: set it to sizeof. A member of 0 means the
 * default, so that `= {sizeof x}` is enough. An unknown size is refused: a longer struct comes from a later
 * header. Sizes of earlier headers are accepted; members that they did not have are 0. Later libraries will
 * accept the sizes of this header.
 *
 * Threads. Different handles may be used at the same time. Only one thread at a time may use one handle: a
 * second thread gets SPECKLESCOPE_BUSY, and nothing is done. "Any thread" means that the call is allowed at
 * any time, from any thread.
 *
 * State. Only the handles and each thread's last error have state: two chains share no setting. Three things
 * belong to the process. oneTBB's threads compute. `threads` of a stream limits all of them while it is open.
 * A GStreamer source, a video file, a V4L2 camera or the recording of a video starts GStreamer.
 *
 * Forks. The library is not fork-safe: use spawn. After the first handle was made, every call in a forked
 * child returns SPECKLESCOPE_BAD_HANDLE. A process may fork before that.
 *
 * Texts are UTF-8. Returned texts belong to the library: texts of stages and parameters are valid forever,
 * others as long as the description of the call states. */
#ifndef SPECKLESCOPE_H
#define SPECKLESCOPE_H

#include <stddef.h>
#include <stdint.h>

#if defined(SPECKLESCOPE_BUILDING)
#define SPECKLESCOPE_API __attribute__((visibility("default")))
#else
#define SPECKLESCOPE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- status and version -----------------------------------------------------------------------------------
 */

typedef int32_t specklescope_status;
enum {
    SPECKLESCOPE_OK = 0,
    SPECKLESCOPE_RUN_ERROR = 1,   /* a file, a camera or a device failed */
    SPECKLESCOPE_USAGE_ERROR = 2, /* the request is wrong: a name, a range, a shape */
    SPECKLESCOPE_BAD_HANDLE = 3,  /* NULL, ended, of another kind, or used in a forked child */
    SPECKLESCOPE_BUSY = 4,        /* another thread is using this handle */
    SPECKLESCOPE_TIMEOUT = 5,     /* no frame in time; call again */
    SPECKLESCOPE_END = 6,         /* the source has no more frames, or the stream was stopped */
    SPECKLESCOPE_CANCELLED = 7    /* goes_on returned 0 */
};

/* "0.1.0". */
SPECKLESCOPE_API const char* specklescope_version(void);

/* Error of the last call on this thread; "" after SPECKLESCOPE_OK. Valid until the next call on this thread.
 */
SPECKLESCOPE_API const char* specklescope_last_error(void);

/* --- stages and sources
 * ---------------------------------------------------------------------------------------- */

typedef struct specklescope_stage_info {
    size_t struct_size;
    const char* name;  /* "speckle" */
    const char* doc;   /* one line */
    size_t parameters; /* number of parameters */
    int32_t stateful;  /* 1: a result depends on earlier frames */
    int32_t on_device; /* 1: this build can run it on a GPU */
} specklescope_stage_info;

enum {
    SPECKLESCOPE_BOOLEAN = 0, /* "true", "false" */
    SPECKLESCOPE_INTEGER = 1,
    SPECKLESCOPE_REAL = 2,
    SPECKLESCOPE_CHOICE = 3, /* one of `choices` */
    SPECKLESCOPE_TEXT = 4,
    SPECKLESCOPE_PATH = 5,  /* a text that names a file */
    SPECKLESCOPE_ACTION = 6 /* a whole number; each new one acts once */
};

typedef struct specklescope_parameter_info {
    size_t struct_size;
    const char* name; /* "radius" */
    const char* doc;  /* one line */
    const char* unit; /* "px"; "" if it has none */
    const char* default_value;
    const char* allowed;        /* "allowed: a whole number, 1…15 px" */
    const char* const* choices; /* names of a choice, ended by NULL; otherwise NULL */
    double minimum, maximum;    /* of numbers, inclusive; ±DBL_MAX without a limit */
    int32_t kind;               /* SPECKLESCOPE_BOOLEAN … */
    int32_t logarithmic;        /* 1: a slider is best logarithmic */
    int32_t rebuilds;           /* 1: an edit rebuilds the stage; 0: it takes effect with the next frame */
    int32_t reserved;
} specklescope_parameter_info;

/* Any thread. In the order in which menus and help show them. */
SPECKLESCOPE_API specklescope_status specklescope_stage_count(size_t* count);
SPECKLESCOPE_API specklescope_status specklescope_stage_describe(size_t index, specklescope_stage_info* info);
SPECKLESCOPE_API specklescope_status specklescope_parameter_describe(const char* stage, size_t index,
                                                                     specklescope_parameter_info* info);

typedef struct specklescope_source_kind {
    size_t struct_size;
    const char* name;   /* "synthetic": the part before the colon */
    const char* syntax; /* "synthetic[:vessels|uniform|static]" */
    const char* doc;
    size_t options; /* number of options, after "?" in its text: "synthetic:vessels?width=640&height=480" */
} specklescope_source_kind;

/* Any thread. As `specklescope list sources` shows them. For the source of a stream:
 * specklescope_stream_source. */
SPECKLESCOPE_API specklescope_status specklescope_source_count(size_t* count);
SPECKLESCOPE_API specklescope_status specklescope_source_describe(size_t index,
                                                                  specklescope_source_kind* info);
SPECKLESCOPE_API specklescope_status specklescope_source_option_describe(const char* source, size_t index,
                                                                         specklescope_parameter_info* info);

/* --- images and their facts --------------------------------------------------------------------- */

enum { SPECKLESCOPE_U8 = 0, SPECKLESCOPE_U16 = 1, SPECKLESCOPE_F32 = 2 };
enum { SPECKLESCOPE_HOST = 0, SPECKLESCOPE_DEVICE = 1 }; /* memory of pixels: the host, a GPU (CUDA) */

/* Rows from the top; colour is RGB, interleaved.
 *
 * GPU memory is accepted by the calls of a chain that runs on that GPU; every other call refuses it. `stream`
 * belongs to the caller: the chain waits on the GPU for work that is on the stream at the call, and later
 * work on the stream waits for the chain. Pixels are read and written in place if data and pitch are
 * multiples of 16 and a row is a multiple of 32 bytes; otherwise they are copied once within the GPU. Results
 * of streams with memory=device are in GPU memory as well (specklescope_frame_image). */
typedef struct specklescope_image {
    size_t struct_size;
    void* data;
    size_t pitch;  /* bytes from one row to the next; 0: the rows follow each other */
    int32_t width; /* pixels */
    int32_t height;
    int32_t channels; /* 1 or 3; 0: 1 */
    int32_t type;     /* SPECKLESCOPE_U8 … */
    int32_t memory;   /* SPECKLESCOPE_HOST, SPECKLESCOPE_DEVICE */
    int32_t reserved;
    /* Since this member a struct has 56 bytes; without it, 48. For GPU memory: the cudaStream_t that orders
     * its use; NULL: the default stream. */
    void* stream;
} specklescope_image;

/* Facts of a frame. */
typedef struct specklescope_facts {
    size_t struct_size;
    int64_t time_ns;       /* when it was taken, on the clock of the camera; 0 is a valid time */
    double exposure_ms;    /* 0: unknown; stages then use their parameter */
    double full_scale;     /* largest value of the camera; 0: that of the type */
    int32_t discontinuity; /* 1: does not follow the previous frame; stages clear their history */
    int32_t reserved;
    /* Since these members a struct has 48 bytes; without them, 40. */
    int32_t warming_up; /* 1: made while a stage filled its history (see specklescope_result) */
    int32_t untimed;    /* 1: the time is unknown and time_ns is ignored; see
                         * specklescope_recorder_push */
} specklescope_facts;

/* Facts of a result. */
typedef struct specklescope_result {
    size_t struct_size;
    uint64_t sequence;           /* of the frame; a gap is a loss */
    uint64_t version;            /* of the parameters; every edit increases it */
    int64_t time_ns;             /* of the frame; for a file without times and rate, one second per frame */
    double exposure_ms;          /* used for the numbers; 0: unknown, or not used */
    const char* exposure_origin; /* "camera", "file", "parameter", "default", "unknown" */
    const char* quantity;        /* "speckle flow index" */
    const char* symbol;          /* "SFI" */
    const char* unit;            /* "1/s"; "1" for a pure number */
    uint64_t undefined;          /* pixels of the result that are NaN */
    uint64_t infinite;           /* … that are infinite */
    uint64_t saturated;          /* windows with a sample at full scale, of `windows` */
    uint64_t windows;            /* 0: no stage checks this */
    uint64_t raw_saturated;      /* samples of the frame at full scale, of `raw_samples` */
    uint64_t raw_samples;        /* 0: samples have no full scale */
    size_t regions;              /* number of measured regions */
    int32_t warmup_frames;       /* frames held by the first stage that still fills its history … */
    int32_t warmup_wanted;       /* … of the frames it needs; both 0: no stage fills one */
    /* Since this member a struct has 144 bytes; without it, 136. "intensity", "contrast", "contrast2",
     * "time", "flow", "other": kind of quantity. */
    const char* measure;
    /* Since these members a struct has 152 bytes; without them, 144. 1: made while a stage filled its history
     * or took a capture, now or when the recording was made; 0: the result is complete. */
    int32_t warming_up;
    int32_t reserved;
    /* Since these members a struct has 168 bytes; without them, 152. */
    int64_t arrival_ns; /* when its pixels were complete, on the monotonic clock */
    int64_t position;   /* of the frame in its file, from 0, also after a seek; -1: no file */
} specklescope_result;

/* One region of interest, measured on a result. NaN if a value does not exist. */
typedef struct specklescope_region {
    size_t struct_size;
    const char* name;
    const char* shape; /* "rectangle" */
    const char* fit;   /* on the image: "whole", "clipped", "outside" */
    double mean;       /* in the unit of the result; docs/science.md, Regions, defines it for each quantity */
    double mean_of_map; /* the plain mean */
    double standard_deviation;
    double minimum, maximum;
    double median;   /* NaN unless the option medians=true was given */
    uint64_t pixels; /* valid + infinite + undefined */
    uint64_t valid, infinite, undefined;
    int64_t saturated; /* samples at full scale; -1: unknown */
} specklescope_region;

/* --- settings of a chain or a stream ----------------------------------------------------------------------
 */

/* Called repeatedly on the calling thread during long preparations (a simulated scene, the mean of dark
 * frames) with the name of the work and its progress, 0 to 1, negative if unknown. Returning 0 ends the call
 * with SPECKLESCOPE_CANCELLED. It must not call the library with the same handle. It is used as long as the
 * handle is alive, also if a frame of a new size or an edit makes a chain prepare again. */
typedef int (*specklescope_goes_on)(void* user, const char* what, double part);

/* Called on the thread of a call before an edit takes effect, if the edit requires a new preparation.
 * `output` has the shape of the results, without pixels; `in_place` as in specklescope_chain_in_place.
 * Returning 0 refuses the edit: the call fails with SPECKLESCOPE_USAGE_ERROR, and the chain keeps its stages
 * and their history. It must not call the library with the same handle. */
typedef int (*specklescope_agrees)(void* user, const specklescope_image* output, int32_t in_place);

typedef struct specklescope_settings {
    size_t struct_size;
    /* Options of the command line as "key=value,key=value", with their names, ranges and defaults. For a
     * chain: backend (auto, cpu, cuda), threads, channel, medians, gpus (one). For a stream also: slots,
     * from, frames, rate, loop, transfer, silence, gpus, memory (host, device: location of results). Only for
     * a chain: show (the further image, `also` of a stage, that is returned instead of the last one, on the
     * host). NULL: all at their defaults. */
    const char* options;
    const char* regions;          /* a file of regions, JSON or of ImageJ; NULL: none */
    specklescope_goes_on goes_on; /* NULL: none */
    void* user;                   /* passed to goes_on and agrees */
    int32_t
        trusted; /* 1: like --trust, a gst: source may write files and listen; never for untrusted texts */
    int32_t reserved;
    /* Since these members a struct has 64 bytes; without them, 48. */
    const char*
        regions_json; /* regions as in specklescope_chain_set_regions, instead of a file; NULL: none */
    const char*
        view; /* for a stream: colours of .mkv, .mp4 and .png recordings, like --view; NULL: the defaults */
    /* Since this member a struct has 72 bytes; without it, 64. For a chain; NULL: every edit that fits takes
     * effect. */
    specklescope_agrees agrees;
} specklescope_settings;

/* --- a chain, frame by frame ------------------------------------------------------------------------------
 */

typedef struct specklescope_chain specklescope_chain;

/* `text`: "speckle:radius=3", stages joined by "|"; NULL or "": none yet. `settings` may be NULL. */
SPECKLESCOPE_API specklescope_status specklescope_chain_create(const char* text,
                                                               const specklescope_settings* settings,
                                                               specklescope_chain** chain);
/* Ends it; waits only for its work on a GPU. NULL is allowed. */
SPECKLESCOPE_API specklescope_status specklescope_chain_free(specklescope_chain* chain);

/* Edits: any thread, also while another one is in specklescope_chain_process. They take effect between two
 * frames. A refused edit changes nothing. An edit that does not fit the shape of the next frame makes that
 * call fail, and the chain is as it was before. */
SPECKLESCOPE_API specklescope_status specklescope_chain_add(specklescope_chain* chain, const char* stage);
SPECKLESCOPE_API specklescope_status specklescope_chain_replace(specklescope_chain* chain, const char* text);
/* Copies the stages of `from` with all values, also those that a text does not contain: the counts of
 * actions. */
SPECKLESCOPE_API specklescope_status specklescope_chain_copy(specklescope_chain* chain,
                                                             specklescope_chain* from);
/* `stage` is its index from 0; `value` as on the command line: "3", "2.5", "true", "sfi". */
SPECKLESCOPE_API specklescope_status specklescope_chain_set(specklescope_chain* chain, size_t stage,
                                                            const char* name, const char* value);
/* All values, or none if one is refused: "radius=3,output=sfi", as after the colon of a stage's text. `stage`
 * is its name, if only one stage has it, or its index from 0: "speckle", "0". Lookup and edit are one step:
 * edits of other threads come before or after it. */
SPECKLESCOPE_API specklescope_status specklescope_chain_set_values(specklescope_chain* chain,
                                                                   const char* stage, const char* values);
/* Index from 0 of the only stage with that name; valid until the next edit. */
SPECKLESCOPE_API specklescope_status specklescope_chain_place(specklescope_chain* chain, const char* stage,
                                                              size_t* place);
/* Texts go into `text`, ended by a 0; `needed` (may be NULL) gets the number of bytes with the 0. If `size`
 * is too small, nothing is written; text NULL and size 0 ask only for `needed`. Any thread. */
SPECKLESCOPE_API specklescope_status specklescope_chain_get(specklescope_chain* chain, size_t stage,
                                                            const char* name, char* text, size_t size,
                                                            size_t* needed);
/* The same, `stage` as in specklescope_chain_set_values. */
SPECKLESCOPE_API specklescope_status specklescope_chain_get_value(specklescope_chain* chain,
                                                                  const char* stage, const char* name,
                                                                  char* text, size_t size, size_t* needed);
SPECKLESCOPE_API specklescope_status specklescope_chain_text(specklescope_chain* chain, char* text,
                                                             size_t size, size_t* needed);

/* Sets the regions that are measured on every result from the next frame on, in the format of a region file:
 * {"regions":[{"name": "box","shape":"rectangle","points":[[10,8],[29,27]]}]}; NULL or "": none. Any thread.
 * Invalid regions are refused and change nothing. `fit` of a measured region shows if it is inside the image.
 */
SPECKLESCOPE_API specklescope_status specklescope_chain_set_regions(specklescope_chain* chain,
                                                                    const char* json);
/* Regions for the next frame, in the same form. Any thread; texts as in specklescope_chain_text. */
SPECKLESCOPE_API specklescope_status specklescope_chain_regions(specklescope_chain* chain, char* text,
                                                                size_t size, size_t* needed);

/* 1: every pixel of the result has the position of its pixel in the frame, and width and height do not
 * change; 0: a stage crops, flips, rotates or shrinks. Any thread. */
SPECKLESCOPE_API specklescope_status specklescope_chain_in_place(specklescope_chain* chain,
                                                                 int32_t* in_place);

/* Prepares for frames like `input` (data and pitch are ignored) and returns width, height, channels, type and
 * the pitch without gaps of the results. Sets data to NULL. */
SPECKLESCOPE_API specklescope_status specklescope_chain_output(specklescope_chain* chain,
                                                               const specklescope_image* input,
                                                               specklescope_image* output);
/* Processes one frame: reads `input` and writes the result into `output`, which has the shape from
 * specklescope_chain_output and shares no memory with `input`. Nothing is copied if stages run on the host.
 * `facts` and `result` may be NULL; texts of `result` live until the next call with this chain.
 *
 * Each image may be on the host or on the chain's GPU. If both are on the GPU and `result` is NULL, the call
 * starts the work and returns; it waits only for the work of the fourth call before. Keep the memory until
 * the work on its stream is done, as for any asynchronous work. A later call reports a failure of the GPU. A
 * stream that is being captured into a graph is refused. The thread's current device does not change. */
SPECKLESCOPE_API specklescope_status specklescope_chain_process(specklescope_chain* chain,
                                                                const specklescope_image* input,
                                                                const specklescope_facts* facts,
                                                                const specklescope_image* output,
                                                                specklescope_result* result);
/* Facts of the last result; waits for it if a GPU is still working on it. Texts as above. */
SPECKLESCOPE_API specklescope_status specklescope_chain_result(specklescope_chain* chain,
                                                               specklescope_result* result);
/* Region `index` of the last result; waits as above; its texts live until the next call with this chain. */
SPECKLESCOPE_API specklescope_status specklescope_chain_region(specklescope_chain* chain, size_t index,
                                                               specklescope_region* region);
/* Further image number `index` of the last result, from 0: one that a stage gives in the same pass (`also` of
 * a stage, "speckle:also=contrast"). `name` is its name, NULL after the last one; `image` its pixels, f32 on
 * the host, also from a chain on a GPU; `result` its own facts. Each of the three may be NULL. Waits as
 * above; pixels and texts live until the next call with this chain. */
SPECKLESCOPE_API specklescope_status specklescope_chain_also(specklescope_chain* chain, size_t index,
                                                             const char** name, specklescope_image* image,
                                                             specklescope_result* result);
/* Stages clear their history: the next frame does not follow the previous one. */
SPECKLESCOPE_API specklescope_status specklescope_chain_reset(specklescope_chain* chain);

/* --- memory for callers: on the chain's GPU, and on the host
 * -------------------------------------------------- */

typedef struct specklescope_memory specklescope_memory;

/* Allocates an image on the chain's GPU, ordered by image->stream. `image` has the shape, as from
 * specklescope_chain_output; data, pitch (without gaps) and memory are set. */
SPECKLESCOPE_API specklescope_status specklescope_memory_create(specklescope_chain* chain,
                                                                specklescope_image* image,
                                                                specklescope_memory** memory);
/* Allocates `bytes` of host memory at `data` for frames and results of the chain: page-locked for a chain on
 * a GPU, which then transfers without an intermediate copy. `data` is a multiple of 64, and rows that start
 * at a multiple of 64 are read fastest. The content is undefined. 0 bytes, and more than three quarters of
 * the free memory, are refused. Any thread, also while another one is in specklescope_chain_process. */
SPECKLESCOPE_API specklescope_status specklescope_memory_create_host(specklescope_chain* chain, size_t bytes,
                                                                     void** data,
                                                                     specklescope_memory** memory);
/* Frees it; the chain may have ended. GPU memory is freed in the order of its stream, which must still exist.
 * Free host memory only when no call uses it. Any thread. NULL is allowed. */
SPECKLESCOPE_API specklescope_status specklescope_memory_free(specklescope_memory* memory);
/* Frees GPU memory even if its stream has ended: waits until the GPU is idle. Any thread. NULL is allowed.
 * Like the next two calls it refuses host memory. */
SPECKLESCOPE_API specklescope_status specklescope_memory_free_idle(specklescope_memory* memory);
/* Makes `stream` wait on the GPU for the work that is now on the memory's stream. Any thread. */
SPECKLESCOPE_API specklescope_status specklescope_memory_order(specklescope_memory* memory, void* stream);
/* Number of its GPU, in CUDA's order. Any thread. */
SPECKLESCOPE_API specklescope_status specklescope_memory_device(specklescope_memory* memory, int32_t* device);

/* Pixels of region `index`, from 0, of a text as of specklescope_chain_set_regions: 255, others 0. `mask` has
 * width × height bytes, rows from the top. Any thread. */
SPECKLESCOPE_API specklescope_status specklescope_region_mask(const char* json, size_t index, int32_t width,
                                                              int32_t height, uint8_t* mask);

/* --- a view: results as a display or a video encoder takes them ------------------------------------------
 */

typedef struct specklescope_view specklescope_view;

/* Parameters of a view, as specklescope_parameter_describe returns those of a stage. Any thread. */
SPECKLESCOPE_API specklescope_status specklescope_view_count(size_t* count);
SPECKLESCOPE_API specklescope_status specklescope_view_describe(size_t index,
                                                                specklescope_parameter_info* info);
/* `text`: "colormap=turbo,low=0,high=1", with the names and the rules of --view; NULL or "": all at their
 * defaults, which take the range from percentiles of each image. Giving low or high fixes it. */
SPECKLESCOPE_API specklescope_status specklescope_view_create(const char* text, specklescope_view** view);
/* Ends it. NULL is allowed. */
SPECKLESCOPE_API specklescope_status specklescope_view_free(specklescope_view* view);
/* Colours of `input`, as in the window and in recordings. `output` has the same size, u8 with 3 channels, and
 * shares no memory with it. With 3 channels, each input channel is scaled separately. `low` and `high` (may
 * be NULL): values of the first and the last colour. */
SPECKLESCOPE_API specklescope_status specklescope_view_colors(specklescope_view* view,
                                                              const specklescope_image* input,
                                                              const specklescope_image* output, double* low,
                                                              double* high);
/* 16 bits for each pixel of an `input` with one channel: value = offset + scale * level. Integers are copied
 * (scale 1, offset 0). For f32 the view's range becomes 0 to 65535, values outside are clamped, and NaN
 * becomes 0. `output` has the input's size, u16 with one channel, and shares no memory with it. */
SPECKLESCOPE_API specklescope_status specklescope_view_levels(specklescope_view* view,
                                                              const specklescope_image* input,
                                                              const specklescope_image* output, double* scale,
                                                              double* offset);

/* --- a stream: any SOURCE of the program, followed by a chain ------------------------------------------ */

typedef struct specklescope_stream specklescope_stream;
typedef struct specklescope_frame specklescope_frame;

typedef struct specklescope_source_info {
    size_t struct_size;
    /* Texts live until the next call with this stream. */
    const char* name;   /* name of the file or the camera */
    const char* coding; /* coding of images that were decoded to intensity, and its origin; "": not coded */
    const char* lossy;  /* lossy codec of the pixels; "" if none is known */
    double full_scale;  /* 0: none (f32) */
    double rate;        /* nominal frames/s; 0: unknown */
    uint64_t frames;    /* 0: unknown or endless */
    int32_t width, height, channels, type;
    int32_t live; /* 1: does not wait for the reader; 0: a file */
    int32_t reserved;
} specklescope_source_info;

enum { SPECKLESCOPE_RESULTS = 0, SPECKLESCOPE_FRAMES = 1, SPECKLESCOPE_MASK = 2 }; /* recorded data */

/* `source` as on the command line; `chain` as of specklescope_chain_create. A file gives its first frame
 * after the first specklescope_stream_next; a camera runs from this call on. When the process exits, open
 * streams are stopped and their recordings are finished. */
SPECKLESCOPE_API specklescope_status specklescope_stream_open(const char* source, const char* chain,
                                                              const specklescope_settings* settings,
                                                              specklescope_stream** stream);
/* Stops, finishes every recording, ends the handle. Fetched frames stay valid until they are freed. */
SPECKLESCOPE_API specklescope_status specklescope_stream_close(specklescope_stream* stream);
SPECKLESCOPE_API specklescope_status specklescope_stream_source(specklescope_stream* stream,
                                                                specklescope_source_info* info);

/* Waits for the next result, in order; SPECKLESCOPE_TIMEOUT after `seconds` (negative: forever). A file waits
 * for the reader. A live source drops the oldest of a few pending results if the reader is late; `sequence`
 * and the statistics (drops of a recorder) show it. SPECKLESCOPE_END: there are no more.
 * SPECKLESCOPE_RUN_ERROR, once, if the target frame of a seek is missing; the next call continues. */
SPECKLESCOPE_API specklescope_status specklescope_stream_next(specklescope_stream* stream, double seconds,
                                                              specklescope_frame** frame);
/* Any thread: stops the source, finishes every recording; a waiting specklescope_stream_next returns
 * SPECKLESCOPE_END. */
SPECKLESCOPE_API specklescope_status specklescope_stream_stop(specklescope_stream* stream);

/* Edits, from any thread, between two frames. A wrong edit is refused at once, and so is a new chain that
 * cannot run on frames of the current size. An edit that fails later changes nothing and is reported by
 * specklescope_stream_messages. */
SPECKLESCOPE_API specklescope_status specklescope_stream_set(specklescope_stream* stream, size_t stage,
                                                             const char* name, const char* value);
/* As specklescope_chain_set_values. */
SPECKLESCOPE_API specklescope_status specklescope_stream_set_values(specklescope_stream* stream,
                                                                    const char* stage, const char* values);
SPECKLESCOPE_API specklescope_status specklescope_stream_replace(specklescope_stream* stream,
                                                                 const char* chain);
/* As specklescope_chain_place. */
SPECKLESCOPE_API specklescope_status specklescope_stream_place(specklescope_stream* stream, const char* stage,
                                                               size_t* place);
/* As specklescope_chain_set_regions, but if a region has no pixel in the image, all are refused, reported by
 * specklescope_stream_messages. */
SPECKLESCOPE_API specklescope_status specklescope_stream_set_regions(specklescope_stream* stream,
                                                                     const char* json);
SPECKLESCOPE_API specklescope_status specklescope_stream_regions(specklescope_stream* stream, char* text,
                                                                 size_t size, size_t* needed);
/* Sets an option of the source that may change while it runs: exposure, gain … */
SPECKLESCOPE_API specklescope_status specklescope_stream_set_source(specklescope_stream* stream,
                                                                    const char* name, const char* value);

/* Records from the next frame on into a file whose extension is the format, like --record: results, raw
 * frames or the mask of saturated samples, with the colours of the settings' view. An existing name gets a
 * number. If it is called before the first specklescope_stream_next, it records every frame of a file. */
SPECKLESCOPE_API specklescope_status specklescope_stream_record(specklescope_stream* stream, const char* path,
                                                                int32_t what);
/* Writes the regions of every result from the next frame on into a table (.csv), like --traces. */
SPECKLESCOPE_API specklescope_status specklescope_stream_traces(specklescope_stream* stream,
                                                                const char* path);

/* Any thread. 1: a file stops before its next frame, a camera continues without results; 0: resume. Results
 * computed before this call (more than a hundred for small frames) are still returned by
 * specklescope_stream_next. A file is always stopped before the first specklescope_stream_next. */
SPECKLESCOPE_API specklescope_status specklescope_stream_pause(specklescope_stream* stream, int32_t on);
/* Continues a file at this frame, counted from 0, also after its end. Pending results are discarded. Stages
 * clear their history, or with `warm` 1 first get the preceding frames that they need. If there are several
 * seeks, the last one counts. Refused if the source has no such frame or cannot seek. If the frame turns out
 * to be missing (the number of frames was an estimate), nothing changes and the next specklescope_stream_next
 * reports it; likewise if the chain cannot run on it. */
SPECKLESCOPE_API specklescope_status specklescope_stream_seek(specklescope_stream* stream, uint64_t frame,
                                                              int32_t warm);
/* Any thread. Finishes open recordings and tables, and reports failures; the stream continues without them.
 */
SPECKLESCOPE_API specklescope_status specklescope_stream_finish(specklescope_stream* stream);
/* Any thread. Marks an event at the last fetched frame, in open recordings and tables; its number,
 * from 1, goes into `number` (may be NULL). */
SPECKLESCOPE_API specklescope_status specklescope_stream_mark(specklescope_stream* stream, const char* label,
                                                              uint64_t* number);

/* Any thread; as specklescope_chain_text. The statistics are JSON, like --stats. Messages are lines of the
 * program's log; each is returned once. The last 1000 unread ones are kept, after a line that counts the
 * others. */
SPECKLESCOPE_API specklescope_status specklescope_stream_statistics(specklescope_stream* stream, char* text,
                                                                    size_t size, size_t* needed);
SPECKLESCOPE_API specklescope_status specklescope_stream_messages(specklescope_stream* stream, char* text,
                                                                  size_t size, size_t* needed);

/* A result of a stream. Pixels and texts live until specklescope_frame_free, also after the stream was
 * closed; they are read-only. Any number may be held: the first few use the stream's memory, further ones are
 * copies.
 *
 * With the option memory=device the image stays on the GPU that made it and is not transferred unless it is
 * recorded; the raw frame is on the host. Its pixels are complete when specklescope_stream_next returns: any
 * stream may read and write them at once, because they belong only to this frame. After
 * specklescope_frame_free the memory is reused when the caller's work is done: the work that was then on the
 * streams named by specklescope_frame_used_on, or on the default stream if there are none. No call waits for
 * that on the host, except the free of the last frame of a closed stream, which also frees page-locked
 * frames. Any number may be held while the GPU has memory: after 10 s without memory a frame is lost, and
 * specklescope_stream_next reports it. Without a GPU the stream does not open. If the GPU fails and the run
 * continues on the CPU, results are recorded, and specklescope_stream_next returns SPECKLESCOPE_RUN_ERROR for
 * each. */
SPECKLESCOPE_API specklescope_status specklescope_frame_image(specklescope_frame* frame,
                                                              specklescope_image* image);
/* Number of the image's GPU, in CUDA's order; with several (gpus=0,1) each result is on the one that made it.
 * Any thread. This call and the next one refuse a result on the host. */
SPECKLESCOPE_API specklescope_status specklescope_frame_device(specklescope_frame* frame, int32_t* device);
/* States that work now on `stream`, a cudaStream_t of that GPU, uses the image: after specklescope_frame_free
 * its memory is not reused before that work is done. NULL: the default stream. Call it for each stream after
 * its last use; the stream may end then. Any thread. */
SPECKLESCOPE_API specklescope_status specklescope_frame_used_on(specklescope_frame* frame, void* stream);
SPECKLESCOPE_API specklescope_status specklescope_frame_raw(specklescope_frame* frame,
                                                            specklescope_image* image);
SPECKLESCOPE_API specklescope_status specklescope_frame_result(specklescope_frame* frame,
                                                               specklescope_result* result);
SPECKLESCOPE_API specklescope_status specklescope_frame_region(specklescope_frame* frame, size_t index,
                                                               specklescope_region* region);
/* Further image number `index` of the result, as specklescope_chain_also. Refused for a stream with
 * memory=device, whose results are not transferred. */
SPECKLESCOPE_API specklescope_status specklescope_frame_also(specklescope_frame* frame, size_t index,
                                                             const char** name, specklescope_image* image,
                                                             specklescope_result* result);
SPECKLESCOPE_API specklescope_status specklescope_frame_free(specklescope_frame* frame);

/* --- a recorder: writes the caller's frames into files of the program --------------------------------- */

typedef struct specklescope_recorder specklescope_recorder;

/* Description of a recording. Texts are copied when the recorder is made. */
typedef struct specklescope_recording {
    size_t struct_size;
    /* Quantity of the numbers, as in specklescope_result; NULL: intensities in DN. */
    const char* quantity;
    const char* symbol;
    const char* unit;
    const char* measure; /* NULL: "other" if there is a quantity */
    const char* source;  /* origin of the frames, for the file's description; NULL: "libspecklescope" */
    const char* view;    /* colours of .mkv, .mp4 and .png, like --view; NULL: the defaults */
    double rate;         /* nominal frames/s, 1e-9 to 1e5; 0: unknown */
    double um_per_px;    /* side of a pixel in µm, 1e-9 to 1e6; 0: unknown */
    int32_t what;        /* SPECKLESCOPE_RESULTS … */
    int32_t live;        /* 1: frames are dropped and counted if the queue is full; 0: the call waits */
} specklescope_recording;

typedef struct specklescope_recorder_info {
    size_t struct_size;
    /* Texts live until the next call with this recorder. */
    const char* path;  /* of the current or last file; "" before the first frame */
    const char* error; /* reason why recording stopped; "" without an error */
    uint64_t written;  /* frames, in all files */
    uint64_t dropped;  /* frames given and not written */
    uint64_t queued;
    uint64_t bytes; /* of the current file */
    uint64_t files; /* written files: one for each size, type and quantity */
    int32_t closed;
    int32_t reserved;
} specklescope_recorder_info;

/* The file's extension is the format, like --record. An existing name gets a number. No file is created
 * before the first frame. `recording` may be NULL. */
SPECKLESCOPE_API specklescope_status specklescope_recorder_create(const char* path,
                                                                  const specklescope_recording* recording,
                                                                  specklescope_recorder** recorder);
/* Copies one frame from host memory. With `facts` NULL or `untimed` 1 the frame was taken now; if the
 * recording has a rate and is not live, one period after the last frame. A frame older than the last one is
 * refused, and so is a time_ns of 2^62 (146 years) or more from 0: subtract the start of the clock. */
SPECKLESCOPE_API specklescope_status specklescope_recorder_push(specklescope_recorder* recorder,
                                                                const specklescope_image* image,
                                                                const specklescope_facts* facts);
/* Marks an event at the next pushed frame; its number, from 1, goes into `number` (may be NULL). */
SPECKLESCOPE_API specklescope_status specklescope_recorder_mark(specklescope_recorder* recorder,
                                                                const char* label, uint64_t* number);
/* Any thread. */
SPECKLESCOPE_API specklescope_status specklescope_recorder_status(specklescope_recorder* recorder,
                                                                  specklescope_recorder_info* info);
/* Writes pending frames and finishes the file; reports failures. The handle stays valid for
 * specklescope_recorder_status. */
SPECKLESCOPE_API specklescope_status specklescope_recorder_close(specklescope_recorder* recorder);
/* Ends it, closed or not. NULL is allowed. */
SPECKLESCOPE_API specklescope_status specklescope_recorder_free(specklescope_recorder* recorder);
/* Description in a recording of this program (.tiff, .raw, .mkv, .png): JSON with program, started, chain,
 * subject …; "" for any other file. Texts as in specklescope_chain_text. Any thread. */
SPECKLESCOPE_API specklescope_status specklescope_recording_text(const char* path, char* text, size_t size,
                                                                 size_t* needed);

#ifdef __cplusplus
}
#endif

#endif
