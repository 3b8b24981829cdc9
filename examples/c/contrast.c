/* The speckle contrast of one frame. */
#include <specklescope.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 320, HEIGHT = 240 };
static uint16_t frame[HEIGHT][WIDTH];
static float contrast[HEIGHT][WIDTH];

int main(void) {
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < WIDTH; ++x)
            frame[y][x] = (uint16_t)(1000 + rand() % 200);

    specklescope_chain* chain = NULL;
    specklescope_image in = {sizeof in, frame, 0, WIDTH, HEIGHT, 1, SPECKLESCOPE_U16, 0, 0, NULL};
    specklescope_image out = {sizeof out, contrast, 0, WIDTH, HEIGHT, 1, SPECKLESCOPE_F32, 0, 0, NULL};
    if (specklescope_chain_create("speckle:radius=3,output=contrast", NULL, &chain) != SPECKLESCOPE_OK ||
        specklescope_chain_process(chain, &in, NULL, &out, NULL) != SPECKLESCOPE_OK) {
        fprintf(stderr, "%s\n", specklescope_last_error());
        return 1;
    }
    printf("K = %.4f in the middle\n", contrast[HEIGHT / 2][WIDTH / 2]);
    specklescope_chain_free(chain);
    return 0;
}
