/* Specklescope as a library: stages, chains of them, and any SOURCE as a stream of results. The program computes
 * with the same functions: a chain gives the same bytes here and there.
 *
 * Calls. Every call that can fail returns a status; specklescope_last_error() then has one sentence: the thing,
 * what is allowed, what to do. No exception leaves the library, and it writes nothing to the terminal.
 *
 * Handles. A handle is a key of a table and no address: one that has ended, or never was, is refused and harms
 * nothing. Every handle that a call gives is to be ended by its own call.
 *
 * Structs. The first member is the size that the caller knows: set it to sizeof. Members that are 0 mean the
 * default, so that `= {sizeof x}` is enough. A size that the library does not know is refused: a longer struct is
 * of a later header. The sizes of earlier headers are taken: what they did not have is 0. Later libraries will take
 * the sizes of this header.
 *
 * Threads. Different handles may be used at the same time. One handle is for one thread at a time: a second one
 * gets SPECKLESCOPE_BUSY, and nothing is done. Where "any thread" stands, the call may come at any moment.
 *
 * State. There is none beyond the handles and each thread's last sentence: two chains share no setting. Three
 * things belong to the process: oneTBB's threads compute; `threads` of a stream limits them all while it is open;
 * a source of GStreamer, a film or a camera of V4L2 starts GStreamer, and so does a film that is recorded.
 *
 * Forks. The library is not fork-safe: use spawn. After the first handle was made, every call in a forked child returns
 * SPECKLESCOPE_BAD_HANDLE. A process may fork before that.
 *
 * Texts are UTF-8. Those that a call gives belong to the library: of stages and parameters for good, of anything
 * else as the call says. */
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

/* --- status and version ----------------------------------------------------------------------------------- */

typedef int32_t specklescope_status;
enum {
    SPECKLESCOPE_OK = 0,
    SPECKLESCOPE_RUN_ERROR = 1,   /* the request was fine and the world was not: a file, a camera, a device */
    SPECKLESCOPE_USAGE_ERROR = 2, /* the request itself is wrong: a name, a range, a shape */
    SPECKLESCOPE_BAD_HANDLE = 3,  /* NULL, ended already, of another kind, or in a forked child */
    SPECKLESCOPE_BUSY = 4,        /* another thread is using this handle */
    SPECKLESCOPE_TIMEOUT = 5,     /* nothing came in that time; ask again */
    SPECKLESCOPE_END = 6,         /* the source has given all that it has, or the stream was stopped */
    SPECKLESCOPE_CANCELLED = 7    /* goes_on said no */
};

/* "0.1.0". */
SPECKLESCOPE_API const char* specklescope_version(void);

/* Why the last call on this thread did not return SPECKLESCOPE_OK; "" if it did. Until the next call on this
 * thread. */
SPECKLESCOPE_API const char* specklescope_last_error(void);

/* --- what there is ---------------------------------------------------------------------------------------- */

typedef struct specklescope_stage_info {
    size_t struct_size;
    const char* name;  /* "speckle" */
    const char* doc;   /* one line */
    size_t parameters; /* how many it has */
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
    const char* const* choices; /* of a choice, NULL behind the last one; else NULL */
    double minimum, maximum;    /* of numbers, both allowed; ±DBL_MAX where there is no end */
    int32_t kind;               /* SPECKLESCOPE_BOOLEAN … */
    int32_t logarithmic;        /* 1: a slider is best logarithmic */
    int32_t rebuilds; /* 1: an edit prepares the stage anew; 0: it takes effect with the next frame */
    int32_t reserved;
} specklescope_parameter_info;

/* Any thread. In the order in which menus and help show them. */
SPECKLESCOPE_API specklescope_status specklescope_stage_count(size_t* count);
SPECKLESCOPE_API specklescope_status specklescope_stage_describe(size_t index, specklescope_stage_info* info);
SPECKLESCOPE_API specklescope_status specklescope_parameter_describe(const char* stage, size_t index,
                                                                     specklescope_parameter_info* info);

typedef struct specklescope_source_kind {
    size_t struct_size;
    const char* name;   /* "synthetic", what stands in front of the colon */
    const char* syntax; /* "synthetic[:vessels|uniform|static]" */
    const char* doc;
    size_t options; /* how many it has, behind "?" in its text: "synthetic:vessels?width=640&height=480" */
} specklescope_source_kind;

/* Any thread. As `specklescope list sources` has them. What a stream's own source is, specklescope_stream_source tells. */
SPECKLESCOPE_API specklescope_status specklescope_source_count(size_t* count);
SPECKLESCOPE_API specklescope_status specklescope_source_describe(size_t index, specklescope_source_kind* info);
SPECKLESCOPE_API specklescope_status specklescope_source_option_describe(const char* source, size_t index,
                                                                         specklescope_parameter_info* info);

/* --- images and what is known of them --------------------------------------------------------------------- */

enum { SPECKLESCOPE_U8 = 0, SPECKLESCOPE_U16 = 1, SPECKLESCOPE_F32 = 2 };
enum { SPECKLESCOPE_HOST = 0, SPECKLESCOPE_DEVICE = 1 }; /* where pixels lie: the host, a GPU (CUDA) */

/* Rows from the top; colour is RGB, interleaved.
 *
 * Memory of a GPU is taken by the calls of a chain that runs on that GPU; every other call refuses it. `stream` is the
 * caller's: what it holds when the call comes is waited for before the memory is touched, and what is put on it
 * afterwards waits for the chain, both on the GPU. Pixels are read and written where they lie if data and pitch are
 * multiples of 16 and a row is a multiple of 32 bytes, and copied once within the GPU if not. Results of streams with
 * memory=device lie there as well (specklescope_frame_image). */
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
    /* Since this member a struct has 56 bytes; without it, 48. Of memory of a GPU: the cudaStream_t in whose order it
     * is used; NULL: the default stream. */
    void* stream;
} specklescope_image;

/* What is known of a frame beside its pixels. */
typedef struct specklescope_facts {
    size_t struct_size;
    int64_t time_ns;       /* when it was taken, on the clock of whoever took it; 0 is a time as any other */
    double exposure_ms;    /* 0: unknown; contrast and flow use their stage's own then */
    double full_scale;     /* largest value that the camera can give; 0: that of the type */
    int32_t discontinuity; /* 1: it does not follow the frame before; stages forget their history */
    int32_t reserved;
    /* Since these members a struct has 48 bytes; without them, 40. */
    int32_t warming_up; /* 1: it was made while a stage filled its history, as specklescope_result tells */
    int32_t untimed;    /* 1: nobody knows when it was taken, and time_ns is not looked at; specklescope_recorder_push
                         * says what a recorder takes */
} specklescope_facts;

/* What is known of a result. */
typedef struct specklescope_result {
    size_t struct_size;
    uint64_t sequence;           /* of the frame; a gap is a loss */
    uint64_t version;            /* of the parameters that made it: edits count it up */
    int64_t time_ns;             /* of the frame; of a file without times and rate it counts frames, one a second */
    double exposure_ms;          /* that the numbers rest on; 0: unknown, or they rest on none */
    const char* exposure_origin; /* "camera", "file", "parameter", "default", "unknown" */
    const char* quantity;        /* "speckle flow index" */
    const char* symbol;          /* "SFI" */
    const char* unit;            /* "1/s"; "1" for a pure number */
    uint64_t undefined;          /* pixels of the result that are NaN */
    uint64_t infinite;           /* … that are infinite */
    uint64_t saturated;          /* windows with a sample at full scale, of `windows` */
    uint64_t windows;            /* 0: no stage looked */
    uint64_t raw_saturated;      /* samples of the frame at full scale, of `raw_samples` */
    uint64_t raw_samples;        /* 0: they have no full scale */
    size_t regions;              /* how many were measured */
    int32_t warmup_frames;       /* frames that the first stage which still fills its history holds … */
    int32_t warmup_wanted;       /* … of those it wants; both 0: none fills one now */
    /* Since this member a struct has 144 bytes; without it, 136. "intensity", "contrast", "contrast2", "time", "flow",
     * "other": what stages may do with the numbers. */
    const char* measure;
    /* Since these members a struct has 152 bytes; without them, 144. 1: made while a stage filled its history or took a
     * capture, now or when what is played back was recorded; 0: the result is complete. */
    int32_t warming_up;
    int32_t reserved;
    /* Since these members a struct has 168 bytes; without them, 152. */
    int64_t arrival_ns; /* when its pixels were complete here, on the clock of the machine that never runs backwards */
    int64_t position;   /* of the frame in its film, from 0, also after a jump; -1: of no film */
} specklescope_result;

/* One region of interest, measured on a result. NaN where there is nothing to tell. */
typedef struct specklescope_region {
    size_t struct_size;
    const char* name;
    const char* shape;  /* "rectangle" */
    const char* fit;    /* on the picture: "whole", "clipped", "outside" */
    double mean;        /* in the unit of the result, taken as its quantity asks: docs/science.md, Regions */
    double mean_of_map; /* the plain mean */
    double standard_deviation;
    double minimum, maximum;
    double median;   /* NaN unless the option medians=true was given */
    uint64_t pixels; /* valid + infinite + undefined */
    uint64_t valid, infinite, undefined;
    int64_t saturated; /* samples at full scale; -1 where that cannot be told */
} specklescope_region;

/* --- settings of a chain or a stream ---------------------------------------------------------------------- */

/* Called now and then on the calling thread while a call prepares something long (a simulated scene, the mean
 * of dark frames): what it is, and how far it is, 0 to 1, negative if unknown. Returning 0 ends the call with
 * SPECKLESCOPE_CANCELLED. It must not call the library with the same handle. It is asked as long as the handle
 * is alive, also when a frame of a new size or an edit makes a chain prepare anew. */
typedef int (*specklescope_goes_on)(void* user, const char* what, double part);

/* Called on the thread of a call that is about to let an edit take effect, unless the edit prepares nothing anew:
 * `output` has the shape of the results, without pixels; `in_place` as of specklescope_chain_in_place. Returning 0
 * refuses the edit: the call fails with SPECKLESCOPE_USAGE_ERROR, and the chain keeps its stages and their history. It
 * must not call the library with the same handle. */
typedef int (*specklescope_agrees)(void* user, const specklescope_image* output, int32_t in_place);

typedef struct specklescope_settings {
    size_t struct_size;
    /* Options of the command line as "key=value,key=value", with their names, ranges and defaults. Of a
     * chain: backend (auto, cpu, cuda), threads, channel, medians, gpus (one). Of a stream also: slots, from,
     * frames, rate, loop, transfer, silence, gpus, memory (host, device: where results lie). NULL: all at their
     * defaults. */
    const char* options;
    const char* regions; /* a file of regions, JSON or of ImageJ; NULL: none */
    specklescope_goes_on goes_on; /* NULL: nobody asks */
    void* user; /* handed to goes_on and agrees */
    int32_t trusted; /* 1: as --trust, a gst: source may write files and listen; never for texts of others */
    int32_t reserved;
    /* Since these members a struct has 64 bytes; without them, 48. */
    const char* regions_json; /* regions as specklescope_chain_set_regions takes them, in place of a file; NULL: none */
    const char* view; /* of a stream: colours of what it records as .mkv, .mp4 and .png, as --view; NULL: its defaults */
    /* Since this member a struct has 72 bytes; without it, 64. Of a chain; NULL: every edit that fits takes effect. */
    specklescope_agrees agrees;
} specklescope_settings;

/* --- a chain, frame by frame ------------------------------------------------------------------------------ */

typedef struct specklescope_chain specklescope_chain;

/* `text`: "speckle:radius=3", stages joined by "|"; NULL or "": none yet. `settings` may be NULL. */
SPECKLESCOPE_API specklescope_status specklescope_chain_create(const char* text,
                                                               const specklescope_settings* settings,
                                                               specklescope_chain** chain);
/* Ends it; waits for nothing but what it has begun on a GPU. NULL is well. */
SPECKLESCOPE_API specklescope_status specklescope_chain_free(specklescope_chain* chain);

/* Edits: any thread, also while another is in specklescope_chain_process. They take effect between two
 * frames. One that is refused changes nothing; one that turns out wrong with the next frame (it does not fit
 * its shape) makes that call fail, and the chain is as it was before. */
SPECKLESCOPE_API specklescope_status specklescope_chain_add(specklescope_chain* chain, const char* stage);
SPECKLESCOPE_API specklescope_status specklescope_chain_replace(specklescope_chain* chain, const char* text);
/* The stages of `from` with all their values, also those that a text leaves out: how often a button was pressed. */
SPECKLESCOPE_API specklescope_status specklescope_chain_copy(specklescope_chain* chain, specklescope_chain* from);
/* `stage` counts from 0; `value` as on the command line: "3", "2.5", "true", "sfi". */
SPECKLESCOPE_API specklescope_status specklescope_chain_set(specklescope_chain* chain, size_t stage,
                                                            const char* name, const char* value);
/* Several values at once, or none of them where one is refused: "radius=3,output=sfi", as behind the colon of a stage's
 * text. `stage` is its name, where only one has that, or its place from 0: "speckle", "0". It is looked for in the chain
 * that is edited: edits of other threads come before or behind, and never in between. */
SPECKLESCOPE_API specklescope_status specklescope_chain_set_values(specklescope_chain* chain, const char* stage,
                                                                   const char* values);
/* Where the only stage of that name stands, for the calls that count from 0: until the next edit. */
SPECKLESCOPE_API specklescope_status specklescope_chain_place(specklescope_chain* chain, const char* stage,
                                                              size_t* place);
/* Texts go into `text`, ended by a 0; `needed` (may be NULL) gets the bytes that it takes with the 0. Without
 * room for all of it nothing is written: text NULL and size 0 ask for `needed` alone. Any thread. */
SPECKLESCOPE_API specklescope_status specklescope_chain_get(specklescope_chain* chain, size_t stage,
                                                            const char* name, char* text, size_t size,
                                                            size_t* needed);
/* The same, `stage` as of specklescope_chain_set_values. */
SPECKLESCOPE_API specklescope_status specklescope_chain_get_value(specklescope_chain* chain, const char* stage,
                                                                  const char* name, char* text, size_t size,
                                                                  size_t* needed);
SPECKLESCOPE_API specklescope_status specklescope_chain_text(specklescope_chain* chain, char* text,
                                                             size_t size, size_t* needed);

/* Other regions, measured on every result from the next frame on: text as a file of regions has it, {"regions":[{"name":
 * "box","shape":"rectangle","points":[[10,8],[29,27]]}]}; NULL or "": none. Any thread. What is wrong in itself is refused
 * and changes nothing; where a region lies on a picture, its `fit` tells. */
SPECKLESCOPE_API specklescope_status specklescope_chain_set_regions(specklescope_chain* chain, const char* json);
/* Those that the next frame is measured with, in the same form. Any thread; as specklescope_chain_text. */
SPECKLESCOPE_API specklescope_status specklescope_chain_regions(specklescope_chain* chain, char* text, size_t size,
                                                                size_t* needed);

/* 1 where a pixel of the result lies where its pixel of the frame does, so that width and height stay as they
 * are; 0 where a stage crops, flips, rotates or shrinks. Any thread. */
SPECKLESCOPE_API specklescope_status specklescope_chain_in_place(specklescope_chain* chain,
                                                                 int32_t* in_place);

/* Prepares for frames like `input` (its data and pitch do not matter) and tells width, height, channels, type
 * and the pitch without gaps of what the chain makes of them. Its data is set to NULL. */
SPECKLESCOPE_API specklescope_status specklescope_chain_output(specklescope_chain* chain,
                                                               const specklescope_image* input,
                                                               specklescope_image* output);
/* One frame: `input` is read, and the result written into `output`, which has the shape that
 * specklescope_chain_output tells and shares no memory with `input`. Neither is copied on the way where
 * stages run on the host. `facts` and `result` may be NULL; texts of `result` live until the next call with
 * this chain.
 *
 * Either may lie on the host or on the GPU that the chain runs on. Where both lie on the GPU and `result` is NULL the
 * call returns when the work is begun, and waits for none of it but that of the fourth call before; the memory is to
 * stay until then in the order of its stream, as with any work that was put there. A failure of the GPU is then told
 * by a later call. A stream that is being captured into a graph is refused. The thread's current device stays as it
 * is. */
SPECKLESCOPE_API specklescope_status specklescope_chain_process(specklescope_chain* chain,
                                                                const specklescope_image* input,
                                                                const specklescope_facts* facts,
                                                                const specklescope_image* output,
                                                                specklescope_result* result);
/* What is known of the last result; waits for it where it is still in work on a GPU. Texts as above. */
SPECKLESCOPE_API specklescope_status specklescope_chain_result(specklescope_chain* chain,
                                                               specklescope_result* result);
/* Region `index` of the last result; waits as above; its texts live until the next call with this chain. */
SPECKLESCOPE_API specklescope_status specklescope_chain_region(specklescope_chain* chain, size_t index,
                                                               specklescope_region* region);
/* The next frame does not follow the last one: stages forget their history. */
SPECKLESCOPE_API specklescope_status specklescope_chain_reset(specklescope_chain* chain);

/* --- memory for callers: of the GPU that a chain runs on, and of the host ------------------------------------ */

typedef struct specklescope_memory specklescope_memory;

/* Room for an image on the GPU that the chain runs on, in the order of image->stream: `image` has its shape, as
 * specklescope_chain_output tells, and gets data, pitch (without gaps) and memory. */
SPECKLESCOPE_API specklescope_status specklescope_memory_create(specklescope_chain* chain,
                                                                specklescope_image* image,
                                                                specklescope_memory** memory);
/* `bytes` of the host's memory from `data` on, for frames and results of the chain: page-locked where it runs on a GPU,
 * which then fetches the one and leaves the other there without a copy in between. `data` is a multiple of 64, and rows
 * that begin on one are read best. What it holds at first is undefined. Refused are 0 bytes, and more than
 * three quarters of the memory that is free. Any thread, also while another is in specklescope_chain_process. */
SPECKLESCOPE_API specklescope_status specklescope_memory_create_host(specklescope_chain* chain, size_t bytes,
                                                                     void** data, specklescope_memory** memory);
/* Gives it back; the chain need not be alive. Of a GPU: in the order of its stream, which must be alive still. Of the
 * host: at once, when no call reads or writes it any more. Any thread. NULL is well. */
SPECKLESCOPE_API specklescope_status specklescope_memory_free(specklescope_memory* memory);
/* Gives memory of a GPU back whatever has become of its stream: waits until the GPU has done all that it was given. Any
 * thread. NULL is well. Like the next two calls it refuses memory of the host. */
SPECKLESCOPE_API specklescope_status specklescope_memory_free_idle(specklescope_memory* memory);
/* `stream` goes on behind what the memory's stream holds now; nobody waits on the host. Any thread. */
SPECKLESCOPE_API specklescope_status specklescope_memory_order(specklescope_memory* memory, void* stream);
/* The GPU that it lies on, in CUDA's order. Any thread. */
SPECKLESCOPE_API specklescope_status specklescope_memory_device(specklescope_memory* memory, int32_t* device);

/* --- a view: results as a display or a coder of video takes them ------------------------------------------ */

typedef struct specklescope_view specklescope_view;

/* What a view can be told, as specklescope_parameter_describe tells it of stages. Any thread. */
SPECKLESCOPE_API specklescope_status specklescope_view_count(size_t* count);
SPECKLESCOPE_API specklescope_status specklescope_view_describe(size_t index,
                                                                specklescope_parameter_info* info);
/* `text`: "colormap=turbo,low=0,high=1", with the names and the rules of --view; NULL or "": all at their
 * defaults, which take the range from percentiles of each image. Giving low or high fixes it. */
SPECKLESCOPE_API specklescope_status specklescope_view_create(const char* text, specklescope_view** view);
/* Ends it; waits for nothing. NULL is well. */
SPECKLESCOPE_API specklescope_status specklescope_view_free(specklescope_view* view);
/* Colours of `input`, as the window and recordings show them: `output` is of its size, u8 with 3 channels, and
 * shares no memory with it. Of an input with 3 channels each is scaled by itself. `low` and `high` (may be
 * NULL): what the first and the last colour stand for. */
SPECKLESCOPE_API specklescope_status specklescope_view_colors(specklescope_view* view,
                                                              const specklescope_image* input,
                                                              const specklescope_image* output, double* low,
                                                              double* high);
/* 16 bits for each pixel of an `input` with one channel: value = offset + scale * level. Integers go as they
 * are (scale 1, offset 0); of f32 the view's range becomes 0 to 65535, what lies outside gets its nearer end,
 * and NaN 0. `output` is of the input's size, u16 with one channel, and shares no memory with it. */
SPECKLESCOPE_API specklescope_status specklescope_view_levels(specklescope_view* view,
                                                              const specklescope_image* input,
                                                              const specklescope_image* output, double* scale,
                                                              double* offset);

/* --- a stream: any SOURCE of the program, with a chain behind it ------------------------------------------ */

typedef struct specklescope_stream specklescope_stream;
typedef struct specklescope_frame specklescope_frame;

typedef struct specklescope_source_info {
    size_t struct_size;
    /* Texts live until the next call with this stream. */
    const char* name;   /* of the file or the camera */
    const char* coding; /* how pictures that were decoded to light were coded, and who says so; "": not coded */
    const char* lossy;  /* a codec that has changed the pixels; "" if none is known */
    double full_scale; /* 0: none (f32) */
    double rate;       /* nominal frames/s; 0: unknown */
    uint64_t frames;   /* 0: unknown or endless */
    int32_t width, height, channels, type;
    int32_t live; /* 1: it does not wait; 0: a file */
    int32_t reserved;
} specklescope_source_info;

enum { SPECKLESCOPE_RESULTS = 0, SPECKLESCOPE_FRAMES = 1, SPECKLESCOPE_MASK = 2 }; /* what is recorded */

/* `source` as on the command line; `chain` as of specklescope_chain_create. A file gives its first frame
 * after the first specklescope_stream_next; a camera runs from here on. When the process exits, streams that are
 * open are stopped, and their recordings are finished. */
SPECKLESCOPE_API specklescope_status specklescope_stream_open(const char* source, const char* chain,
                                                              const specklescope_settings* settings,
                                                              specklescope_stream** stream);
/* Stops, finishes every recording, ends the handle. Frames that were given stay until they are freed. */
SPECKLESCOPE_API specklescope_status specklescope_stream_close(specklescope_stream* stream);
SPECKLESCOPE_API specklescope_status specklescope_stream_source(specklescope_stream* stream,
                                                                specklescope_source_info* info);

/* The next result, in order: waits for it, SPECKLESCOPE_TIMEOUT after `seconds` (negative: for ever). A file
 * waits for the reader; of a live source the oldest of a few waiting results are thrown away when the reader
 * is late, which shows in `sequence` and among the statistics as drops of a recorder. SPECKLESCOPE_END: all
 * were given. SPECKLESCOPE_RUN_ERROR, once, where a frame that was sought does not come: the next call gives what
 * there is. */
SPECKLESCOPE_API specklescope_status specklescope_stream_next(specklescope_stream* stream, double seconds,
                                                              specklescope_frame** frame);
/* Any thread: stops the source, finishes every recording; a waiting specklescope_stream_next returns
 * SPECKLESCOPE_END. */
SPECKLESCOPE_API specklescope_status specklescope_stream_stop(specklescope_stream* stream);

/* Edits, from any thread, between two frames. What is wrong in itself is refused at once, and so is a new chain
 * that cannot run on frames of the present size; what turns out wrong with a frame changes nothing and is told
 * by specklescope_stream_messages. */
SPECKLESCOPE_API specklescope_status specklescope_stream_set(specklescope_stream* stream, size_t stage,
                                                             const char* name, const char* value);
/* As specklescope_chain_set_values. */
SPECKLESCOPE_API specklescope_status specklescope_stream_set_values(specklescope_stream* stream, const char* stage,
                                                                    const char* values);
SPECKLESCOPE_API specklescope_status specklescope_stream_replace(specklescope_stream* stream,
                                                                 const char* chain);
/* As specklescope_chain_place. */
SPECKLESCOPE_API specklescope_status specklescope_stream_place(specklescope_stream* stream, const char* stage,
                                                               size_t* place);
/* As specklescope_chain_set_regions, but that regions of which the picture has no pixel are refused as a whole, which
 * specklescope_stream_messages says. */
SPECKLESCOPE_API specklescope_status specklescope_stream_set_regions(specklescope_stream* stream,
                                                                     const char* json);
SPECKLESCOPE_API specklescope_status specklescope_stream_regions(specklescope_stream* stream, char* text,
                                                                 size_t size, size_t* needed);
/* An option of the source that may be set while it runs: exposure, gain … */
SPECKLESCOPE_API specklescope_status specklescope_stream_set_source(specklescope_stream* stream,
                                                                    const char* name, const char* value);

/* Records from the next frame on into a file whose ending names the format, as --record does: results, raw
 * frames or the mask of saturated samples, coloured as the settings' view says. A taken name gets a number. Before the
 * first specklescope_stream_next no frame of a file is missed. */
SPECKLESCOPE_API specklescope_status specklescope_stream_record(specklescope_stream* stream, const char* path,
                                                                int32_t what);
/* Regions of every result from the next frame on into a table (.csv), as --traces writes it. */
SPECKLESCOPE_API specklescope_status specklescope_stream_traces(specklescope_stream* stream, const char* path);

/* Any thread. 1: a file stops before its next frame, a camera goes on and its results stand still; 0: on. Before the
 * first specklescope_stream_next a file stands in any case. */
SPECKLESCOPE_API specklescope_status specklescope_stream_pause(specklescope_stream* stream, int32_t on);
/* A file goes on at this frame, counted from 0, also after its end: results that wait to be fetched are thrown away, and
 * stages forget their history, or with `warm` 1 get as many frames in front of it as they look back. Of several the last
 * counts. Refused where the source has no such frame or none can be chosen. What only the search tells (the number of
 * frames was an estimate) changes nothing, and the next specklescope_stream_next says it; so it does where the chain
 * cannot run on that frame. */
SPECKLESCOPE_API specklescope_status specklescope_stream_seek(specklescope_stream* stream, uint64_t frame,
                                                              int32_t warm);
/* Any thread. Finishes the recordings and tables that are open, and says what failed; the stream goes on without them. */
SPECKLESCOPE_API specklescope_status specklescope_stream_finish(specklescope_stream* stream);
/* Any thread. An event at the frame that was fetched last, in recordings and tables that are open; its number, from 1,
 * goes into `number` (may be NULL). */
SPECKLESCOPE_API specklescope_status specklescope_stream_mark(specklescope_stream* stream, const char* label,
                                                              uint64_t* number);

/* Any thread; as specklescope_chain_text. The statistics are JSON, as --stats writes them; messages are what
 * the program's log would say, a line each, and each is told once; of those that wait to be read the last 1000 are
 * kept, behind a line that counts the others. */
SPECKLESCOPE_API specklescope_status specklescope_stream_statistics(specklescope_stream* stream, char* text,
                                                                    size_t size, size_t* needed);
SPECKLESCOPE_API specklescope_status specklescope_stream_messages(specklescope_stream* stream, char* text,
                                                                  size_t size, size_t* needed);

/* A result of a stream. Pixels and texts live until specklescope_frame_free, also when the stream has been
 * closed; they are for reading only. Any number may be held: the first few are the stream's own memory, those
 * beyond are copies.
 *
 * Of a stream with the option memory=device the image lies on the GPU that made it, and nothing of it crosses the bus
 * unless it is recorded; the raw frame lies on the host. Its pixels are complete when specklescope_stream_next returns:
 * any stream may read them at once, and write them, since they are this frame's alone. Behind specklescope_frame_free
 * their memory is written again only when what the caller's streams held then is done: of those that
 * specklescope_frame_used_on has named, or where it has named none, of the default stream. No call waits for that on the
 * host, but the free of the last frame of a stream that is closed, whose page-locked frames end with it. Any number may be
 * held, as long as the GPU has memory: where it has none for 10 s a frame is lost, which specklescope_stream_next says.
 * Without a GPU the stream is not opened; where the GPU fails and the run goes on on the CPU, its results are recorded, and
 * specklescope_stream_next says SPECKLESCOPE_RUN_ERROR for each. */
SPECKLESCOPE_API specklescope_status specklescope_frame_image(specklescope_frame* frame,
                                                              specklescope_image* image);
/* The GPU that the image lies on, in CUDA's order; of several (gpus=0,1) each result lies on its own. Any thread. This call
 * and the next refuse a result on the host. */
SPECKLESCOPE_API specklescope_status specklescope_frame_device(specklescope_frame* frame, int32_t* device);
/* What `stream`, a cudaStream_t of that GPU, holds now uses the image: behind specklescope_frame_free its memory waits for
 * that. NULL: the default stream. To be called for each stream, when the last use is on it, which may end then. Any
 * thread. */
SPECKLESCOPE_API specklescope_status specklescope_frame_used_on(specklescope_frame* frame, void* stream);
SPECKLESCOPE_API specklescope_status specklescope_frame_raw(specklescope_frame* frame,
                                                            specklescope_image* image);
SPECKLESCOPE_API specklescope_status specklescope_frame_result(specklescope_frame* frame,
                                                               specklescope_result* result);
SPECKLESCOPE_API specklescope_status specklescope_frame_region(specklescope_frame* frame, size_t index,
                                                               specklescope_region* region);
SPECKLESCOPE_API specklescope_status specklescope_frame_free(specklescope_frame* frame);

/* --- a recorder: frames of one's own into the files that the program writes --------------------------------- */

typedef struct specklescope_recorder specklescope_recorder;

/* What is recorded. Texts are read when the recorder is made. */
typedef struct specklescope_recording {
    size_t struct_size;
    /* What the numbers of results are, as specklescope_result tells it; NULL: intensities in DN. */
    const char* quantity;
    const char* symbol;
    const char* unit;
    const char* measure; /* NULL: "other" where there is a quantity */
    const char* source;  /* where the frames come from, for the file's description; NULL: "libspecklescope" */
    const char* view;    /* colours of .mkv, .mp4 and .png, as --view; NULL: its defaults */
    double rate;         /* nominal frames/s, 1e-9 to 1e5; 0: unknown */
    double um_per_px;    /* µm a side of a pixel, 1e-9 to 1e6; 0: unknown */
    int32_t what;        /* SPECKLESCOPE_RESULTS … */
    int32_t live;        /* 1: a frame that finds no room is dropped, and counted; 0: the call waits */
} specklescope_recording;

typedef struct specklescope_recorder_info {
    size_t struct_size;
    /* Texts live until the next call with this recorder. */
    const char* path;  /* of the file that is written, or was last; "" before the first frame */
    const char* error; /* why it stopped by itself; "" while well */
    uint64_t written;  /* frames, in all files */
    uint64_t dropped;  /* frames given and not written */
    uint64_t queued;
    uint64_t bytes; /* of the present file */
    uint64_t files; /* that were written: one for each size, type and quantity */
    int32_t closed;
    int32_t reserved;
} specklescope_recorder_info;

/* Into a file whose ending names the format, as --record does. A taken name gets a number. Nothing is made before the
 * first frame. `recording` may be NULL. */
SPECKLESCOPE_API specklescope_status specklescope_recorder_create(const char* path,
                                                                  const specklescope_recording* recording,
                                                                  specklescope_recorder** recorder);
/* One frame, of host memory, which is copied. `facts` NULL, or `untimed` 1: it was taken now; or, where the recording has
 * a rate and is not live, a period of it behind the one before. Refused where it is older than the last, and where its
 * time_ns is 2^62 (146 years) or more from 0: subtract when the clock began. */
SPECKLESCOPE_API specklescope_status specklescope_recorder_push(specklescope_recorder* recorder,
                                                                const specklescope_image* image,
                                                                const specklescope_facts* facts);
/* An event at the frame that is pushed next; its number, from 1, goes into `number` (may be NULL). */
SPECKLESCOPE_API specklescope_status specklescope_recorder_mark(specklescope_recorder* recorder, const char* label,
                                                                uint64_t* number);
/* Any thread. */
SPECKLESCOPE_API specklescope_status specklescope_recorder_status(specklescope_recorder* recorder,
                                                                  specklescope_recorder_info* info);
/* Writes what was given and finishes the file; says what failed. The handle stays for specklescope_recorder_status. */
SPECKLESCOPE_API specklescope_status specklescope_recorder_close(specklescope_recorder* recorder);
/* Ends it, closed or not. NULL is well. */
SPECKLESCOPE_API specklescope_status specklescope_recorder_free(specklescope_recorder* recorder);

#ifdef __cplusplus
}
#endif

#endif
