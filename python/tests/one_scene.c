/* Every frame of SOURCE through CHAIN, as a stream into one file, and fed to a chain of its own into the
 * other: one_scene SOURCE CHAIN FILE FILE */
#include <specklescope.h>
#include <stdio.h>
#include <stdlib.h>

static void must(specklescope_status status) {
    if (status == SPECKLESCOPE_OK)
        return;
    fprintf(stderr, "%s\n", specklescope_last_error());
    exit(1);
}

static FILE* opened(const char* path) {
    FILE* file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static size_t row_bytes(const specklescope_image* image) {
    static const size_t sample[] = {1, 2, 4};
    return (size_t)image->width * (size_t)image->channels * sample[image->type];
}

static void write_image(FILE* file, const specklescope_image* image) {
    const size_t pitch = image->pitch ? image->pitch : row_bytes(image);
    for (int32_t y = 0; y < image->height; ++y)
        if (fwrite((const char*)image->data + (size_t)y * pitch, row_bytes(image), 1, file) != 1)
            exit(1);
}

int main(int argc, char** argv) {
    if (argc != 5)
        return 2;
    specklescope_settings settings = {0};
    settings.struct_size = sizeof settings;
    settings.options = "backend=cpu";
    specklescope_stream* stream = NULL;
    specklescope_chain* chain = NULL;
    must(specklescope_stream_open(argv[1], argv[2], &settings, &stream));
    must(specklescope_chain_create(argv[2], &settings, &chain));
    FILE *of_stream = opened(argv[3]), *of_chain = opened(argv[4]);
    specklescope_source_info source = {0};
    source.struct_size = sizeof source;
    must(specklescope_stream_source(stream, &source));

    specklescope_frame* frame = NULL;
    specklescope_status status;
    while ((status = specklescope_stream_next(stream, -1, &frame)) == SPECKLESCOPE_OK) {
        specklescope_image raw = {0}, image = {0};
        specklescope_result result = {0};
        specklescope_facts facts = {0};
        raw.struct_size = image.struct_size = sizeof image;
        result.struct_size = sizeof result;
        facts.struct_size = sizeof facts;
        must(specklescope_frame_image(frame, &image));
        must(specklescope_frame_raw(frame, &raw));
        must(specklescope_frame_result(frame, &result));
        write_image(of_stream, &image);

        facts.exposure_ms = result.exposure_ms;
        facts.full_scale = source.full_scale;
        must(specklescope_chain_output(chain, &raw, &image));
        image.pitch = 0;
        image.data = malloc(row_bytes(&image) * (size_t)image.height);
        must(specklescope_chain_process(chain, &raw, &facts, &image, NULL));
        write_image(of_chain, &image);
        free(image.data);
        must(specklescope_frame_free(frame));
    }
    if (status != SPECKLESCOPE_END)
        must(status);
    must(specklescope_stream_close(stream));
    must(specklescope_chain_free(chain));
    return fclose(of_stream) == 0 && fclose(of_chain) == 0 ? 0 : 1;
}
