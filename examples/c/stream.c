/* Results of any SOURCE: stream SOURCE [CHAIN] prints a line for each frame. */
#include <specklescope.h>
#include <stdio.h>

int main(int argc, char** argv) {
    specklescope_stream* stream = NULL;
    specklescope_frame* frame = NULL;
    specklescope_settings settings = {0};
    settings.struct_size = sizeof settings;
    settings.options = "backend=auto";
    specklescope_status status =
        specklescope_stream_open(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "speckle", &settings, &stream);
    while (status == SPECKLESCOPE_OK &&
           (status = specklescope_stream_next(stream, -1, &frame)) == SPECKLESCOPE_OK) {
        specklescope_image image = {0};
        specklescope_result result = {0};
        image.struct_size = sizeof image;
        result.struct_size = sizeof result;
        if (specklescope_frame_image(frame, &image) == SPECKLESCOPE_OK &&
            specklescope_frame_result(frame, &result) == SPECKLESCOPE_OK)
            printf("frame %llu: %d x %d, %s in %s\n", (unsigned long long)result.sequence, (int)image.width,
                   (int)image.height, result.symbol, result.unit);
        specklescope_frame_free(frame);
    }
    if (status != SPECKLESCOPE_END)
        fprintf(stderr, "%s\n", specklescope_last_error());
    specklescope_stream_close(stream);
    return status == SPECKLESCOPE_END ? 0 : 1;
}
