/* Three functions with plain numbers, for LabVIEW's Call Library Function node and MATLAB's calllib:
 *
 *     flow_init(width, height, radius, exposure)   once
 *     flow_process(frame, flow)                    for every frame: width * height numbers in and out
 *     flow_term()                                  once
 *
 * Each returns 0, or a status of specklescope.h; flow_error writes its message. Build it as a library:
 *
 *     cc -shared -fPIC flow_trio.c -o libflow.so $(pkg-config --cflags --libs specklescope)
 */
#include <specklescope.h>
#include <stdio.h>
#include <string.h>

int32_t flow_init(int32_t width, int32_t height, int32_t radius, double exposure_ms);
int32_t flow_process(const uint16_t* frame, float* flow);
int32_t flow_term(void);
int32_t flow_error(char* text, int32_t size);

static specklescope_chain* chain;
static int32_t columns, rows;
static double exposure;

int32_t flow_init(int32_t width, int32_t height, int32_t radius, double exposure_ms) {
    char text[64];
    specklescope_image in = {0}, out = {0};
    specklescope_status status;
    snprintf(text, sizeof text, "speckle:output=sfi,radius=%d", (int)radius);
    if ((status = flow_term()) != SPECKLESCOPE_OK ||
        (status = specklescope_chain_create(text, NULL, &chain)) != SPECKLESCOPE_OK)
        return status;
    exposure = exposure_ms;
    in.struct_size = out.struct_size = sizeof in;
    in.width = columns = width;
    in.height = rows = height;
    in.type = SPECKLESCOPE_U16;
    return specklescope_chain_output(chain, &in, &out); /* reports an impossible size */
}

int32_t flow_process(const uint16_t* frame, float* flow) {
    specklescope_image in = {0}, out = {0};
    specklescope_facts facts = {0};
    facts.struct_size = sizeof facts;
    facts.exposure_ms = exposure;
    in.struct_size = out.struct_size = sizeof in;
    in.data = (void*)frame; /* read-only */
    out.data = flow;
    in.width = out.width = columns;
    in.height = out.height = rows;
    in.type = SPECKLESCOPE_U16;
    out.type = SPECKLESCOPE_F32;
    return specklescope_chain_process(chain, &in, &facts, &out, NULL);
}

int32_t flow_term(void) {
    specklescope_status status = specklescope_chain_free(chain);
    chain = NULL;
    return status;
}

int32_t flow_error(char* text, int32_t size) {
    if (!text || size < 1)
        return SPECKLESCOPE_USAGE_ERROR;
    strncpy(text, specklescope_last_error(), (size_t)size - 1);
    text[size - 1] = '\0';
    return SPECKLESCOPE_OK;
}
