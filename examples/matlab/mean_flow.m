% Prints time and mean flow of each frame of a recording, and plots them: mean_flow('flow.h5'), in MATLAB or GNU Octave.
function [seconds, means] = mean_flow(file)
    if exist('OCTAVE_VERSION', 'builtin') % Octave has no h5read
        h5 = load('-hdf5', file, 'maps');
        seconds = h5.maps.timestamps(:);
        flow = h5.maps.speckle_flow_index; % width x height x time
    else
        seconds = h5read(file, '/maps/timestamps');
        flow = double(h5read(file, '/maps/speckle_flow_index'));
    end
    known = isfinite(flow);
    flow(~known) = 0;
    means = squeeze(sum(sum(flow, 1), 2) ./ sum(sum(known, 1), 2));
    fprintf('%.6f %.6f\n', [seconds'; means']);
    if nargout == 0
        plot(seconds, means), xlabel('s'), ylabel('flow (1/s)')
    end
end
