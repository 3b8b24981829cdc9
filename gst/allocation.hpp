// Where buffers come from: those of what stands before the element, and its own.
#pragma once

#include "gst/library.hpp"

#include <gst/gst.h>

namespace specklescope::element {

/// Into a query of what comes before: rows may lie as video's meta says, and frames of the host are best made
/// in buffers of a pool of ours, where the chain reads them. `chain`: null where none runs.
void offer_pool(specklescope_chain* chain, GstQuery* query);
/// Into a query that what follows has answered: a pool of ours where it offers none, and rows as far apart as
/// the pool likes where it can take that.
void choose_pool(specklescope_chain* chain, GstQuery* query);

} // namespace specklescope::element
