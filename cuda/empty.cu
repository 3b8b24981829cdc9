// device backend
