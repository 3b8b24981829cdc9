// Editing of regions without a window: every edit compared with a simple model, earlier sets restored, and
// hit tests.
#include "analysis/region_editor.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace specklescope::region_editor_test {

using Part = RegionGrip::Part;

Region rectangle(const std::string& name, double x0, double y0, double x1, double y1) {
    return {name, RegionShape::rectangle, {{x0, y0}, {x1, y1}}, "#112233", false};
}
Region triangle(const std::string& name) {
    return {name, RegionShape::polygon, {{2, 2}, {40, 4}, {20, 40}}, "", false};
}

std::string sentence(const std::function<void()>& act) {
    try {
        act();
    } catch (const UsageError& error) {
        return error.what();
    }
    return "nothing was refused";
}

bool on_picture(const Region& region) {
    std::vector<RowSpan> spans;
    return region_spans(region, 200, 150, spans) != RegionFit::outside;
}

/// Random edits, each compared with a simple set.
class Hand {
public:
    Hand(RegionEditor& editor, unsigned seed) : editor_(editor), random_(seed) {}

    void act() {
        const std::vector<Region> before = editor_.regions();
        const std::uint64_t revision = editor_.revision();
        const int what = number(0, 9);
        std::vector<Region> wanted = before;
        edit(what, wanted);
        ASSERT_EQ(editor_.regions(), wanted) << "edit " << what;
        EXPECT_TRUE(editor_.regions() == before || editor_.revision() != revision)
            << "a change that nobody would hear of: " << what;
        EXPECT_NO_THROW(check_regions(editor_.regions()));
        EXPECT_TRUE(!editor_.selected() || *editor_.selected() < editor_.regions().size());
    }
    int number(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }

private:
    /// One edit in the editor, and the same in the simple set.
    void edit(int what, std::vector<Region>& wanted) {
        const std::size_t count = wanted.size();
        const auto i = static_cast<std::size_t>(count == 0 ? 0 : number(0, static_cast<int>(count) - 1));
        if (what <= 1) {
            const auto shape = static_cast<RegionShape>(number(0, 4));
            std::vector<RegionPoint> points;
            const bool corners = shape == RegionShape::polygon || shape == RegionShape::freehand;
            for (int k = 0; k < (corners ? number(3, 7) : 2); ++k)
                points.push_back({double(number(0, 199)), double(number(0, 149))});
            if (!on_picture({"", shape, points, "", false})) { // a thin ellipse may contain no pixel centre
                EXPECT_THROW(editor_.add(shape, points), UsageError);
                return;
            }
            editor_.add(shape, points);
            const Region& made = editor_.regions().back(); // name and colour have their own tests
            wanted.push_back({made.name, shape, points, made.colour, false});
            EXPECT_EQ(editor_.selected(), count);
            return;
        }
        if (count == 0)
            return;
        Region& region = wanted[i];
        if (what == 2) {
            EXPECT_EQ(editor_.remove(i), !region.locked);
            if (!region.locked)
                wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(i));
        } else if (what == 3) {
            region.name = "name " + std::to_string(number(0, 1 << 30));
            editor_.rename(i, region.name);
        } else if (what == 4) {
            region.colour = region_palette()[static_cast<std::size_t>(number(0, 6))];
            editor_.recolour(i, region.colour);
        } else if (what == 5) {
            region.locked = !region.locked;
            editor_.lock(i, region.locked);
        } else if (what <= 7) {
            drag(i, what == 7, region);
        } else if (what == 8) {
            const double dx = number(-3, 3), dy = number(-3, 3);
            if (editor_.move(i, dx, dy))
                for (RegionPoint& p : region.points)
                    p = {p.x + dx, p.y + dy};
        } else {
            const std::size_t size = region.points.size();
            const auto corner = static_cast<std::size_t>(number(0, static_cast<int>(size) - 1));
            Region less = region;
            less.points.erase(less.points.begin() + static_cast<std::ptrdiff_t>(corner));
            const bool may =
                !region.locked && region.shape == RegionShape::polygon && size > 3 && on_picture(less);
            EXPECT_EQ(editor_.remove_corner(i, corner), may);
            if (may)
                region = less;
        }
    }
    /// A drag of the whole region in several movements; aborted if `cancelled`.
    void drag(std::size_t i, bool cancelled, Region& region) {
        const RegionPoint from{number(0, 1000) / 10.0, number(0, 1000) / 10.0};
        ASSERT_EQ(editor_.begin_drag({Part::inside, i, 0}, from), !region.locked);
        if (region.locked)
            return;
        RegionPoint by;
        for (int k = 0; k < 5; ++k) {
            const RegionPoint step{double(number(-20, 20)), double(number(-20, 20))};
            Region there = region;
            for (RegionPoint& p : there.points)
                p = {p.x + step.x, p.y + step.y};
            if (on_picture(there))
                by = step; // otherwise it stays at its last position
            editor_.drag({from.x + step.x + 0.3, from.y + step.y - 0.3}, k % 2 == 1);
        }
        if (cancelled)
            return editor_.cancel_drag();
        editor_.end_drag();
        for (RegionPoint& p : region.points)
            p = {p.x + by.x, p.y + by.y};
    }

    RegionEditor& editor_;
    std::mt19937 random_;
};

TEST(RegionEditor, RandomEditsMatchASimpleModelAndEachSetIsRestored) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const std::vector<Region> first = {rectangle("box", 10, 8, 29, 27), triangle("tri")};
        RegionEditor editor;
        editor.set_picture(200, 150);
        editor.reset(first);
        Hand hand(editor, seed);
        std::vector<std::vector<Region>> states = {first};
        for (int i = 0; i < 400; ++i) {
            ASSERT_NO_FATAL_FAILURE(hand.act());
            states.push_back(editor.regions());
        }
        for (std::size_t i = states.size(); i-- > 0;) {
            const bool same = editor.regions() == states[i];
            const std::uint64_t revision = editor.revision();
            editor.restore(states[i]);
            ASSERT_EQ(editor.regions(), states[i]);
            EXPECT_EQ(editor.revision() == revision, same);
        }
    }
}

TEST(RegionEditor, EachHandleOfABoxMovesItsOwnEdges) {
    struct Case {
        std::size_t handle;
        Region expected;
    };
    // By (+3, +2); the box is [10, 30] × [20, 40].
    for (const Case& c : std::initializer_list<Case>{{0, rectangle("b", 13, 22, 30, 40)},
                                                     {1, rectangle("b", 10, 22, 30, 40)},
                                                     {2, rectangle("b", 10, 22, 33, 40)},
                                                     {3, rectangle("b", 10, 20, 33, 40)},
                                                     {4, rectangle("b", 10, 20, 33, 42)},
                                                     {5, rectangle("b", 10, 20, 30, 42)},
                                                     {6, rectangle("b", 13, 20, 30, 42)},
                                                     {7, rectangle("b", 13, 20, 30, 40)}}) {
        RegionEditor editor;
        editor.reset({rectangle("b", 30, 40, 10, 20)}); // any two opposite corners
        const RegionPoint at = region_handles(editor.regions()[0])[c.handle];
        ASSERT_TRUE(editor.begin_drag({Part::handle, 0, c.handle}, at));
        editor.drag({at.x + 50, at.y + 60}, false);
        editor.drag({at.x + 3.4, at.y + 1.6}, false);
        editor.end_drag();
        EXPECT_EQ(editor.regions()[0], c.expected) << c.handle;
    }
}

TEST(RegionEditor, CornersFlipAndTheModifierMakesSquaresAndSteps) {
    RegionEditor editor;
    editor.reset({rectangle("b", 10, 20, 30, 40), {"l", RegionShape::line, {{50, 50}, {60, 52}}, "", false}});
    ASSERT_TRUE(editor.begin_drag({Part::handle, 0, 4}, {30, 40}));
    editor.drag({4, 14}, false);
    EXPECT_EQ(editor.regions()[0].points, (std::vector<RegionPoint>{{4, 14}, {10, 20}}));
    editor.drag({25, 26}, true); // 15 wide: the opposite corner stays
    EXPECT_EQ(editor.regions()[0].points, (std::vector<RegionPoint>{{10, 20}, {25, 35}}));
    editor.end_drag();
    ASSERT_TRUE(editor.begin_drag({Part::handle, 1, 1}, {60, 52}));
    for (const auto& [to, end] : std::initializer_list<std::pair<RegionPoint, RegionPoint>>{
             {{70, 53}, {70, 50}}, {{70, 68}, {70, 70}}, {{51, 30}, {50, 30}}, {{41, 58}, {41, 59}}}) {
        editor.drag(to, true);
        EXPECT_EQ(editor.regions()[1].points[1], end) << to.x << " " << to.y;
    }
}

TEST(RegionEditor, AFreehandOutlineIsStretchedWithItsBox) {
    RegionEditor editor;
    editor.reset({{"f", RegionShape::freehand, {{10, 10}, {20, 12}, {30, 30}, {12, 25}}, "", false}});
    ASSERT_TRUE(editor.begin_drag({Part::handle, 0, 4}, {30, 30}));
    editor.drag({50, 40}, false);
    editor.end_drag();
    EXPECT_EQ(editor.regions()[0].points,
              (std::vector<RegionPoint>{{10, 10}, {30, 13}, {50, 40}, {14, 32.5}}));
    ASSERT_TRUE(editor.begin_drag({Part::handle, 0, 3}, {50, 25}));
    editor.drag({10, 25}, false); // without extent it could not be reshaped again
    editor.end_drag();
    for (const RegionPoint& p : editor.regions()[0].points)
        EXPECT_TRUE(p.x >= 10 && p.x <= 11) << p.x;
}

TEST(RegionEditor, PolygonCornersAreInsertedMovedAndRemoved) {
    RegionEditor editor;
    editor.reset({triangle("t")});
    ASSERT_TRUE(editor.begin_drag({Part::middle, 0, 0}, {21, 3}));
    editor.drag({25, 8}, false);
    editor.end_drag();
    EXPECT_EQ(editor.regions()[0].points, (std::vector<RegionPoint>{{2, 2}, {25, 8}, {40, 4}, {20, 40}}));
    EXPECT_TRUE(editor.remove_corner(0, 2));
    EXPECT_EQ(editor.regions()[0].points, (std::vector<RegionPoint>{{2, 2}, {25, 8}, {20, 40}}));
    EXPECT_FALSE(editor.remove_corner(0, 0)) << "two corners are no polygon";
}

TEST(RegionEditor, LockedRegionsDoNotChange) {
    Region locked = triangle("t");
    locked.locked = true;
    RegionEditor editor;
    editor.reset({locked});
    editor.select(0);
    EXPECT_FALSE(editor.begin_drag({Part::inside, 0, 0}, {5, 5}));
    EXPECT_FALSE(editor.move(0, 1, 1));
    EXPECT_FALSE(editor.resize(0, 1, 1));
    EXPECT_FALSE(editor.remove_corner(0, 1));
    EXPECT_FALSE(editor.remove(0));
    EXPECT_EQ(editor.regions(), std::vector<Region>{locked});
    const auto grip = editor.hit({2, 2}, 3);
    ASSERT_TRUE(grip);
    EXPECT_EQ(grip->part, Part::outline) << "no handle is offered";
    editor.duplicate(0);
    EXPECT_FALSE(editor.regions()[1].locked);
}

TEST(RegionEditor, RegionsWithoutAPixelOnTheImageAreRefused) {
    RegionEditor editor;
    editor.set_picture(100, 80);
    const std::string refused = sentence([&] { editor.add(RegionShape::rectangle, {{100, 10}, {120, 20}}); });
    EXPECT_EQ(refused,
              "The rectangle has no pixel in the image of 100×80 and was not added. Draw it on the image.");
    EXPECT_TRUE(editor.regions().empty());
    editor.add(RegionShape::rectangle, {{99, 10}, {120, 20}}); // one of its columns is inside
    const std::vector<Region> before = editor.regions();
    EXPECT_FALSE(editor.move(0, 1, 0));
    ASSERT_TRUE(editor.begin_drag({Part::inside, 0, 0}, {0, 0}));
    editor.drag({500, 0}, false);
    editor.end_drag();
    EXPECT_EQ(editor.regions(), before);
    EXPECT_EQ(sentence([&] {
                  editor.replace({triangle("in"), rectangle("out", 0, 80, 5, 85)});
              }),
              "Region 'out' has no pixel in the image of 100×80; the regions that are there stay.");
    EXPECT_EQ(editor.regions(), before);
    editor.set_picture(50, 80); // now it is off the image: it stays, and may be moved
    EXPECT_EQ(editor.regions(), before);
    EXPECT_TRUE(editor.move(0, 1, 0));
    ASSERT_TRUE(editor.begin_drag({Part::inside, 0, 0}, {100, 0}));
    editor.drag({90, 0}, false);
    EXPECT_EQ(editor.regions()[0].points[0].x, 90);
    editor.drag({20, 0}, false);
    editor.end_drag();
    EXPECT_EQ(editor.regions()[0].points[0].x, 20);
}

TEST(RegionEditor, NewRegionsGetUnusedNamesAndColours) {
    RegionEditor editor;
    for (int i = 0; i < 7; ++i)
        editor.add(RegionShape::rectangle, {{0, 0}, {5, 5}});
    std::set<std::string> colours;
    for (const Region& region : editor.regions())
        colours.insert(region.colour);
    EXPECT_EQ(colours.size(), 7U);
    EXPECT_EQ(editor.regions()[6].name, "region 7");
    const std::string freed = editor.regions()[2].colour;
    EXPECT_TRUE(editor.remove(2));
    editor.add(RegionShape::line, {{0, 0}, {5, 5}});
    EXPECT_EQ(editor.regions()[6].name, "region 8") << "traces of a region 3 are another's";
    EXPECT_EQ(editor.regions()[6].colour, freed);
    editor.rename(0, "vessel");
    editor.duplicate(0);
    editor.duplicate(7);
    EXPECT_EQ(editor.regions()[7].name, "vessel 2");
    EXPECT_EQ(editor.regions()[8].name, "vessel 3");
    EXPECT_EQ(editor.regions()[7].points, (std::vector<RegionPoint>{{10, 10}, {15, 15}}));
    EXPECT_EQ(sentence([&] { editor.rename(1, "vessel"); }),
              "There is a region 'vessel' already; give each one a name of its own.");
    EXPECT_EQ(sentence([&] { editor.rename(1, ""); }),
              "A region has an empty name; give each region a name of its own.");
    EXPECT_EQ(editor.regions()[1].name, "region 2");
    editor.paste(Region{"new", RegionShape::line, {{0, 0}, {5, 5}}, "", true});
    EXPECT_EQ(editor.regions().back().name, "new");
    editor.reset({rectangle("vessel 999999999", 0, 0, 9, 9)}); // longer numbers are part of the name
    for (const char* name : {"vessel 1000000000", "vessel 1000000001", "vessel 1000000002"}) {
        editor.duplicate(0);
        EXPECT_EQ(editor.regions().back().name, name);
        EXPECT_NO_THROW(check_regions(editor.regions()));
    }
    const std::string longest(kMaxRegionName, 'x');
    editor.reset({rectangle(longest, 0, 0, 9, 9)});
    editor.duplicate(0);
    editor.duplicate(0);
    EXPECT_EQ(editor.regions()[2].name, "region 2");
}

TEST(RegionEditor, RestoringEndsADragAndSelectsTheRegionThatChanged) {
    const std::vector<Region> two = {rectangle("a", 10, 10, 20, 20), rectangle("b", 50, 50, 60, 60)};
    RegionEditor editor;
    editor.set_picture(200, 150);
    editor.reset(two);
    ASSERT_TRUE(editor.begin_drag({Part::inside, 1, 0}, {55, 55}));
    editor.drag({70, 70}, false);
    EXPECT_EQ(editor.regions()[1].points[0], (RegionPoint{65, 65}));
    editor.restore({two[1]});
    EXPECT_FALSE(editor.dragging());
    EXPECT_EQ(editor.regions(), std::vector<Region>{two[1]}) << "as it was before it was dragged";
    editor.drag({75, 75}, false);
    editor.end_drag();
    EXPECT_EQ(editor.regions(), std::vector<Region>{two[1]});
    editor.restore(two);
    EXPECT_EQ(editor.selected(), 0U) << "the one that came back";
}

TEST(RegionEditor, CopiesArePlacedWhereThereIsSpace) {
    RegionEditor editor;
    editor.set_picture(100, 100);
    editor.add(RegionShape::rectangle, {{95, 5}, {99, 9}});
    editor.duplicate(0);
    EXPECT_EQ(editor.regions()[1].points, (std::vector<RegionPoint>{{85, 15}, {89, 19}}));
    editor.add(RegionShape::rectangle, {{92, 95}, {99, 99}});
    editor.duplicate(2);
    EXPECT_EQ(editor.regions()[3].points, (std::vector<RegionPoint>{{82, 85}, {89, 89}}));
    EXPECT_EQ(editor.selected(), 3U);
}

TEST(RegionEditor, HitTestPrefersHandlesThenOutlinesThenTheSmallestRegion) {
    RegionEditor editor;
    editor.reset({rectangle("small", 40, 40, 50, 50),
                  rectangle("large", 0, 0, 100, 100),
                  {"disk", RegionShape::ellipse, {{60, 60}, {90, 80}}, "", false},
                  {"line", RegionShape::line, {{10, 90}, {90, 95}}, "", false}});
    const auto grip = [](Part part, std::size_t region, std::size_t index = 0) {
        return std::optional<RegionGrip>({part, region, index});
    };
    EXPECT_EQ(editor.hit({45, 45}, 2), grip(Part::inside, 0)) << "also where a larger one lies over it";
    EXPECT_EQ(editor.hit({30, 30}, 2), grip(Part::inside, 1));
    EXPECT_EQ(editor.hit({41.5, 45}, 2), grip(Part::outline, 0));
    EXPECT_EQ(editor.hit({-1.5, 45}, 2), grip(Part::outline, 1));
    EXPECT_EQ(editor.hit({-2.5, 45}, 2), std::nullopt);
    EXPECT_EQ(editor.hit({75, 70}, 2), grip(Part::inside, 2));
    EXPECT_EQ(editor.hit({61, 61}, 2), grip(Part::inside, 1)) << "the corner of its box is not the disk";
    EXPECT_EQ(editor.hit({75, 81}, 2), grip(Part::outline, 2));
    EXPECT_EQ(editor.hit({50, 93}, 2), grip(Part::outline, 3));
    EXPECT_EQ(editor.hit({50, 89}, 2), grip(Part::inside, 1)) << "a line holds nothing";
    editor.select(0);
    EXPECT_EQ(editor.hit({41, 41}, 2), grip(Part::handle, 0, 0));
    EXPECT_EQ(editor.hit({45, 51}, 2), grip(Part::handle, 0, 5));
    editor.select(1);
    EXPECT_EQ(editor.hit({41, 41}, 2), grip(Part::outline, 0));
    editor.reset({triangle("t")});
    editor.select(0);
    EXPECT_EQ(editor.hit({20, 39}, 2), grip(Part::handle, 0, 2));
    EXPECT_EQ(editor.hit({30, 22}, 2), grip(Part::middle, 0, 1));
    EXPECT_EQ(editor.hit({30, 22}, 10), grip(Part::outline, 0)) << "sides are too short for it at this size";
}

TEST(RegionEditor, MovesAndResizesByKeyboard) {
    RegionEditor editor;
    editor.set_picture(100, 80);
    editor.reset({rectangle("b", 10, 10, 20, 20),
                  triangle("t"),
                  {"l", RegionShape::line, {{5, 5}, {9, 9}}, "", false}});
    editor.select_next(1);
    EXPECT_EQ(editor.selected(), 0U);
    editor.select_next(-1);
    EXPECT_EQ(editor.selected(), 2U);
    EXPECT_TRUE(editor.resize(2, -2, 3));
    EXPECT_EQ(editor.regions()[2].points, (std::vector<RegionPoint>{{5, 5}, {7, 12}}));
    EXPECT_TRUE(editor.resize(0, 10, -4));
    EXPECT_EQ(editor.regions()[0].points, (std::vector<RegionPoint>{{10, 10}, {30, 16}}));
    EXPECT_TRUE(editor.resize(0, -100, 0)) << "to one column";
    EXPECT_EQ(editor.regions()[0].points, (std::vector<RegionPoint>{{10, 10}, {10, 16}}));
    EXPECT_FALSE(editor.resize(0, -1, 0));
    EXPECT_TRUE(editor.resize(1, 38, 0)) << "twice as wide";
    EXPECT_EQ(editor.regions()[1].points, (std::vector<RegionPoint>{{2, 2}, {78, 4}, {38, 40}}));
}

} // namespace specklescope::region_editor_test
