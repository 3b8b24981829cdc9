// What ImageJ itself writes and measures: regions of every kind, the pixels that it takes for them, and regions that
// have no pixels of an area. Debian's libij-java (1.53t) and a JDK; headless:
//   javac -cp /usr/share/java/ij.jar -d /tmp tests/reference/imagej_regions.java
//   java -Djava.awt.headless=true -cp /usr/share/java/ij.jar:/tmp ImagejRegions tests/data
import ij.gui.*;
import ij.io.RoiEncoder;
import ij.process.*;
import java.awt.*;
import java.io.*;
import java.util.*;
import java.util.List;
import java.util.zip.*;

class ImagejRegions {
    static Roi named(String name, Roi roi) {
        roi.setName(name);
        return roi;
    }

    static Roi polygon(String name, int kind, int... xy) {
        int n = xy.length / 2;
        int[] x = new int[n], y = new int[n];
        for (int i = 0; i < n; i++) {
            x[i] = xy[2 * i];
            y[i] = xy[2 * i + 1];
        }
        return named(name, new PolygonRoi(x, y, n, kind));
    }

    /** A hand that draws: steps to neighbours, many of them oblique. */
    static Roi freehand(Random random, String name) {
        int n = 120 + random.nextInt(80);
        double a = 2 + 3 * random.nextDouble(), b = 6 * random.nextDouble();
        int[] x = new int[n], y = new int[n];
        for (int i = 0; i < n; i++) {
            double t = 2 * Math.PI * i / n;
            x[i] = (int) Math.round(100 + 18 * Math.cos(t) + a * Math.cos(3 * t));
            y[i] = (int) Math.round(70 + 15 * Math.sin(t) + b * Math.sin(5 * t));
        }
        return named(name, new PolygonRoi(x, y, n, Roi.FREEROI));
    }

    /** Corners at quarters of a pixel, so that outlines run through centres; or anywhere. */
    static Roi fine(Random random, String name) {
        int n = 3 + random.nextInt(6);
        boolean quarters = random.nextBoolean();
        float[] x = new float[n], y = new float[n];
        for (int i = 0; i < n; i++) {
            x[i] = quarters ? random.nextInt(600) / 4f : 150 * random.nextFloat();
            y[i] = quarters ? random.nextInt(480) / 4f : 120 * random.nextFloat();
        }
        return named(name, new PolygonRoi(x, y, n, Roi.POLYGON));
    }

    static List<Roi> measured() {
        List<Roi> all = new ArrayList<>();
        all.add(named("box", new Roi(10, 8, 20, 20)));
        all.add(named("fine box", new Roi(10.6, 8.25, 5.0, 7.5)));
        all.add(named("half box", new Roi(10.5, 8.5, 5.0, 7.0)));
        all.add(named("oval", new OvalRoi(40, 10, 21, 14)));
        all.add(named("circle", new OvalRoi(5, 50, 16, 16)));
        all.add(named("fine oval", new OvalRoi(40.3, 30.7, 20.5, 13.2)));
        all.add(polygon("triangle", Roi.POLYGON, 0, 60, 30, 60, 0, 90));
        all.add(polygon("diamond", Roi.POLYGON, 90, 10, 110, 30, 90, 50, 70, 30));
        all.add(polygon("star", Roi.POLYGON, 60, 70, 100, 70, 66, 94, 80, 56, 94, 94));
        all.add(polygon("traced", Roi.TRACED_ROI, 20, 95, 26, 95, 26, 97, 30, 97, 30, 110, 24, 110, 24, 104, 20, 104));
        all.add(named("µ-Gefäß 😀", new Roi(50, 60, 3, 1)));
        all.add(named("ellipse", new EllipseRoi(60, 90, 90, 100, 0.5)));
        all.add(named("rotated", new RotatedRectRoi(10, 95, 40, 105, 8)));
        all.add(named("far", new Roi(40000, 33000, 12, 9)));
        Random random = new Random(15);
        for (int i = 0; i < 8; i++)
            all.add(freehand(random, "freehand " + i));
        for (int i = 0; i < 24; i++)
            all.add(fine(random, "polygon " + i));
        for (Roi roi : all)
            roi.setStrokeColor(new Color(0x12, 0xab, 0xef));
        return all;
    }

    static List<Roi> refused() {
        List<Roi> all = new ArrayList<>();
        all.add(named("composite", new ShapeRoi(new Roi(1, 1, 9, 9)).or(new ShapeRoi(new Roi(20, 20, 9, 9)))));
        all.add(named("text", new TextRoi(5, 5, "text")));
        all.add(named("image", new ImageRoi(3, 3, new ByteProcessor(8, 8))));
        all.add(named("points", new PointRoi(new int[] {1, 2}, new int[] {3, 4}, 2)));
        all.add(polygon("polyline", Roi.POLYLINE, 1, 1, 9, 3, 20, 20));
        all.add(polygon("freehand line", Roi.FREELINE, 1, 1, 2, 2, 3, 4, 5, 5));
        all.add(polygon("angle", Roi.ANGLE, 1, 1, 9, 3, 20, 20));
        Roi round = named("round", new Roi(1, 1, 30, 30));
        round.setCornerDiameter(9);
        all.add(round);
        PolygonRoi spline = (PolygonRoi) polygon("spline", Roi.POLYGON, 1, 1, 40, 3, 20, 30);
        spline.fitSpline();
        all.add(spline);
        Roi wide = named("wide", new ij.gui.Line(1.0, 2.0, 30.0, 40.0));
        wide.setStrokeWidth(7f);
        all.add(wide);
        return all;
    }

    static void write(List<Roi> all, File file) throws IOException {
        try (ZipOutputStream zip = new ZipOutputStream(new FileOutputStream(file))) {
            int number = 0;
            for (Roi roi : all) {
                ZipEntry entry = new ZipEntry(String.format("%02d.roi", number++));
                entry.setTime(315619200000L); // 1980: the same bytes every time
                zip.putNextEntry(entry);
                zip.write(RoiEncoder.saveAsByteArray(roi));
            }
        }
    }

    /** NAME|y:first-last … for every run of pixels. */
    static String runs(Roi roi) {
        Rectangle box = roi.getBounds();
        ImageProcessor mask = roi.getMask();
        StringBuilder text = new StringBuilder(roi.getName() + "|");
        for (int y = 0; y < box.height; y++)
            for (int x = 0; x < box.width; x++) {
                int first = x;
                while (x < box.width && (mask == null || mask.get(x, y) != 0))
                    x++;
                if (x > first)
                    text.append(box.y + y).append(':').append(box.x + first).append('-').append(box.x + x - 1)
                        .append(' ');
            }
        return text.toString();
    }

    public static void main(String[] folder) throws IOException {
        List<Roi> all = measured();
        try (PrintWriter out = new PrintWriter(folder[0] + "/imagej_regions.txt", "UTF-8")) {
            for (Roi roi : all)
                out.println(runs(roi));
        }
        all.add(named("line", new ij.gui.Line(3.0, 4.0, 20.0, 9.0)));
        write(all, new File(folder[0], "imagej_regions.zip"));
        write(refused(), new File(folder[0], "imagej_refused.zip"));
    }
}
