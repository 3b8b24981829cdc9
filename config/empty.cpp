// replaced by the first real file
