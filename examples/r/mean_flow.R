# Prints time and mean flow of each frame of a recording, and plots them: Rscript mean_flow.R flow.h5
library(hdf5r)
h5 <- H5File$new(commandArgs(TRUE)[1], "r")
flow <- h5[["maps/speckle_flow_index"]]$read() # width x height x time
means <- apply(flow, 3, function(frame) mean(frame[is.finite(frame)]))
seconds <- h5[["maps/timestamps"]]$read()
cat(sprintf("%.6f %.6f\n", seconds, means), sep = "")
plot(seconds, means, type = "l", xlab = "s", ylab = "flow (1/s)")
