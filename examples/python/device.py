"""PyTorch in, PyTorch out: the picture stays on the GPU, in the order of the present stream."""
import specklescope as ss

try:
    import torch
except ImportError:
    raise SystemExit("PyTorch is not installed: CuPy's arrays, or any with __cuda_array_interface__, do as well.")
if not torch.cuda.is_available():
    raise SystemExit("PyTorch finds no GPU.")
chain = ss.Chain("speckle:radius=3,output=contrast", backend="cuda")
frames = torch.randint(0, 200, (10, 480, 640), dtype=torch.uint8, device="cuda")
contrast = torch.stack([chain(frame) for frame in frames])
print(contrast.device, tuple(contrast.shape), f"K = {contrast.mean().item():.4f}")
