// Zoom and pan: position of an image point on the screen.
#include "ui/canvas/view.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace specklescope::camera_test {

const Rect kCanvas{300, 40, 900, 700};
const Shape kImage{640, 480, 1, PixelType::u8};
const double kFit = 900.0 / 640; // limited by the width: 700/480 is larger

struct Point {
    double x, y;
};
Point image_point(const Camera& camera, double x, double y) {
    const Camera::Placement at = camera.place(kCanvas, kImage);
    return {(x - at.x) / at.scale, (y - at.y) / at.scale};
}

TEST(Camera, FitsTheWholeImageIntoTheMiddle) {
    const Camera::Placement wide = Camera().place(kCanvas, kImage);
    EXPECT_DOUBLE_EQ(wide.scale, kFit);
    EXPECT_DOUBLE_EQ(wide.x, 300);
    EXPECT_DOUBLE_EQ(wide.y, 40 + (700 - 480 * kFit) / 2);
    const Camera::Placement tall = Camera().place(kCanvas, {100, 1000, 1, PixelType::u8});
    EXPECT_DOUBLE_EQ(tall.scale, 0.7);
    EXPECT_DOUBLE_EQ(tall.x, 300 + (900 - 70) / 2.0);
    EXPECT_DOUBLE_EQ(tall.y, 40);
}

TEST(Camera, ZoomsAboutThePointer) {
    for (const auto& [x, y] : {Point{750, 390}, {420, 130}, {1100, 600}}) {
        Camera camera;
        const Point before = image_point(camera, x, y);
        double scale = kFit;
        for (const double factor : {1.25, 1.25, 2.0, 1 / 1.25}) {
            camera.zoom(kCanvas, kImage, x, y, factor);
            scale *= factor;
            EXPECT_FALSE(camera.fitted());
            EXPECT_NEAR(camera.place(kCanvas, kImage).scale, scale, 1e-9);
            EXPECT_NEAR(image_point(camera, x, y).x, before.x, 1e-9) << x << ", " << y << " at " << scale;
            EXPECT_NEAR(image_point(camera, x, y).y, before.y, 1e-9) << x << ", " << y << " at " << scale;
        }
    }
}

TEST(Camera, ZoomHasEndsAndTheMiddleStaysInTheImage) {
    Camera camera;
    for (int i = 0; i < 100; ++i)
        camera.zoom(kCanvas, kImage, 750, 390, 2);
    EXPECT_DOUBLE_EQ(camera.place(kCanvas, kImage).scale, 128);
    for (int i = 0; i < 100; ++i)
        camera.zoom(kCanvas, kImage, 301, 41, 0.5);
    EXPECT_DOUBLE_EQ(camera.place(kCanvas, kImage).scale, 0.5);
    const Point middle = image_point(camera, 750, 390);
    EXPECT_GE(middle.x, 0);
    EXPECT_LE(middle.x, 640);
    EXPECT_GE(middle.y, 0);
    EXPECT_LE(middle.y, 480);
    const Shape large{6400, 4800, 1, PixelType::u8}; // fits at 0.14: half of that is the minimum
    Camera far;
    for (int i = 0; i < 100; ++i)
        far.zoom(kCanvas, large, 750, 390, 0.5);
    EXPECT_NEAR(far.place(kCanvas, large).scale, 900.0 / 6400 / 2, 1e-12);
    const Shape tiny{8, 8, 1, PixelType::u8}; // fits at 87.5, beyond the usual maximum
    Camera near;
    for (int i = 0; i < 100; ++i)
        near.zoom(kCanvas, tiny, 750, 390, 2);
    EXPECT_NEAR(near.place(kCanvas, tiny).scale, 350, 1e-9);
}

TEST(Camera, PanMovesTheImageWithThePointer) {
    Camera camera;
    camera.pan(kCanvas, kImage, 30, -20); // also from the fitted picture
    EXPECT_FALSE(camera.fitted());
    const Camera::Placement fitted = Camera().place(kCanvas, kImage);
    EXPECT_NEAR(camera.place(kCanvas, kImage).x, fitted.x + 30, 1e-9);
    EXPECT_NEAR(camera.place(kCanvas, kImage).y, fitted.y - 20, 1e-9);
    camera.zoom(kCanvas, kImage, 500, 300, 3);
    const Camera::Placement before = camera.place(kCanvas, kImage);
    camera.pan(kCanvas, kImage, -7, 11);
    const Camera::Placement after = camera.place(kCanvas, kImage);
    EXPECT_NEAR(after.x, before.x - 7, 1e-9);
    EXPECT_NEAR(after.y, before.y + 11, 1e-9);
    EXPECT_DOUBLE_EQ(after.scale, before.scale);
    camera.pan(kCanvas, kImage, 1e6, -1e6); // the image stays visible
    EXPECT_NEAR(image_point(camera, 750, 390).x, 0, 1e-9);
    EXPECT_NEAR(image_point(camera, 750, 390).y, 480, 1e-9);
    camera.fit();
    EXPECT_DOUBLE_EQ(camera.place(kCanvas, kImage).x, fitted.x);
    EXPECT_DOUBLE_EQ(camera.place(kCanvas, kImage).scale, fitted.scale);
}

TEST(MostCovered, IsTheScreenOnWhichMostOfTheWindowLies) {
    const std::vector<Rect> screens = {{0, 0, 1920, 1080}, {1920, 0, 2560, 1440}, {0, 1080, 1920, 1080}};
    EXPECT_EQ(most_covered(screens, {100, 100, 1280, 800}), 0U);
    EXPECT_EQ(most_covered(screens, {1700, 100, 1280, 800}), 1U) << "more than half of it";
    EXPECT_EQ(most_covered(screens, {1000, 100, 1280, 800}), 0U);
    EXPECT_EQ(most_covered(screens, {100, 900, 1280, 800}), 2U);
    EXPECT_EQ(most_covered(screens, {9000, 9000, 1280, 800}), 0U) << "nowhere: the first";
}

} // namespace specklescope::camera_test
