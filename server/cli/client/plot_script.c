/* plot_script.c - see plot_script.h.
 *
 * All places are given in pixels from the upper left corner and converted to gnuplot's "screen", whose origin is the
 * lower left corner: legends of gnuplot's own cover the curves where names are longer than it expects. */
#include "plot_script.h"
#include "legend.h"
#include "output.h"
#include <math.h>
#include <string.h>

enum { WIDTH = 1000, PANELS_MOST = 16, NAME_SIZE = 1200 };
enum { LEFT = 100, TITLE = 40, PANEL = 260, AXIS = 60 }; /* pixels; AXIS: space below a panel for ticks and label */
enum {
    LINE       = 17,
    FIRST_LINE = 8,
    GAP        = 10,
    SAMPLE     = 28,
    INDENT     = 45
}; /* pixels of the legend; INDENT: width of a column without its names */
static const double CHARACTER_SVG = 7.0, CHARACTER_PNG = 9.2; /* average width of a character, pixels */

/* The places that all panels share. */
typedef struct layout {
    cli_legend legend;
    size_t     panels, panel; /* number of panels; height of a panel */
    double     column, right; /* width of a column of the legend; right end of the curves */
} layout;

static double screen_x(double pixels)
{
    return pixels / WIDTH;
}

static double screen_y(const layout *l, double pixels)
{
    return 1 - pixels / (double)(TITLE + l->panels * l->panel);
}

/* Units of the arrays that have one for all joints, in the order "rotation or translation". */
static const char *unit_of(const char *name)
{
    static const struct {
        const char *name, *unit;
    } units[] = {{"q", "rad, m"},         {"qd", "rad/s, m/s"},     {"qd_after", "rad/s, m/s"},
                 {"qdd", "rad/s², m/s²"}, {"qddd", "rad/s³, m/s³"}, {"tau", "N m, N"},
                 {"motor_tau", "N m, N"}, {"bias", "N m, N"},       {"gravity", "N m, N"},
                 {"coriolis", "N m, N"},  {"friction", "N m, N"},   {"tau_dot", "N m/s, N/s"},
                 {"kinetic", "J"},        {"potential", "J"},       {"actuator_work", "J"},
                 {"friction_work", "J"},  {"wrench_work", "J"},     {"com", "m"},
                 {"mass", "kg"}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(units[i].name, name) == 0) return units[i].unit;
    return NULL;
}

bool cli_plot_draws(const cli_plot_script *plot, const cli_array *array)
{
    bool chosen = plot->show ? cli_field_is_chosen(plot->show, array->path) : strcmp(array->path, "times") != 0;
    return chosen && !array->constant && array->entries > 0 && array->entries <= CLI_LINES_MOST;
}

/* Prints a text in single quotes of gnuplot, where only the quote itself is special; line breaks become spaces. */
static void print_quoted(FILE *to, const char *text)
{
    putc('\'', to);
    for (; *text; text++) {
        if (*text == '\'') putc('\'', to);
        putc(*text == '\n' || *text == '\r' ? ' ' : *text, to);
    }
    putc('\'', to);
}

/* Writes the name of a curve: that of its column without the name of the array. */
static void name_curve(const cli_plot_script *plot, const cli_array *array, size_t entry, char name[NAME_SIZE])
{
    cli_column_name(plot->coordinates, array, entry, name, NAME_SIZE);
    const char *dot = array->rank > 0 ? strchr(name, '.') : NULL;
    if (dot) memmove(name, dot + 1, strlen(dot));
}

/* --- layout ------------------------------------------------------------------------------------------------------ */

static layout lay_out(const cli_plot_script *plot)
{
    layout l = {0};
    char   name[NAME_SIZE];
    for (size_t i = 0; i < plot->batch->n_arrays && l.panels < PANELS_MOST; i++) {
        const cli_array *array = &plot->batch->arrays[i];
        if (!cli_plot_draws(plot, array)) continue;
        l.panels++;
        for (size_t entry = 0; entry < array->entries; entry++) {
            name_curve(plot, array, entry, name);
            cli_legend_add(&l.legend, entry, name);
        }
    }
    size_t needed = LINE * cli_legend_rows(&l.legend) + FIRST_LINE + AXIS;
    l.panel       = needed > PANEL ? needed : PANEL;
    l.column      = INDENT + cli_legend_width(&l.legend) * (plot->png ? CHARACTER_PNG : CHARACTER_SVG);
    l.right       = WIDTH - GAP - l.column * (double)cli_legend_columns(&l.legend);
    return l;
}

/* --- panels ------------------------------------------------------------------------------------------------------ */

static void print_data(FILE *to, const cli_batch *batch, const cli_array *array, const cli_array *times)
{
    fputs("$data << END\n", to);
    for (size_t row = 0; row < batch->rows; row++) {
        if (times)
            fprintf(to, "%.17g", *cli_row(times, row));
        else
            fprintf(to, "%zu", row);
        for (size_t entry = 0; entry < array->entries; entry++)
            fprintf(to, " %.17g", cli_row(array, row)[entry]);
        putc('\n', to);
    }
    fputs("END\n", to);
}

/* Sets the range of the y axis: five percent more than the finite values have, or one more for a constant. */
static void print_range(FILE *to, const cli_batch *batch, const cli_array *array)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < batch->rows * array->entries; i++) {
        least = fmin(least, isfinite(array->values[i]) ? array->values[i] : INFINITY);
        most  = fmax(most, isfinite(array->values[i]) ? array->values[i] : -INFINITY);
    }
    if (least > most) least = most = 0;
    double margin = most - least > 1e-12 * fmax(fabs(least), fabs(most)) ? 0.05 * (most - least) : 1 + fabs(most) / 100;
    fprintf(to, "set yrange [%.9g:%.9g]\n", least - margin, most + margin);
}

/* Sets the label of the y axis: "tau (N m, N)". */
static void print_label(FILE *to, const cli_array *array)
{
    char        name[NAME_SIZE], label[NAME_SIZE + 40];
    cli_array   whole = *array;
    const char *unit  = unit_of(array->path);
    whole.rank        = 0;
    cli_column_name(NULL, &whole, 0, name, sizeof name);
    snprintf(label, sizeof label, "%s%s%s%s", name, unit ? " (" : "", unit ? unit : "", unit ? ")" : "");
    fputs("set ylabel ", to);
    print_quoted(to, label);
    putc('\n', to);
}

/* Draws a sample of each curve and its name, from `top` down. */
static void print_legend(const cli_plot_script *plot, const layout *l, const cli_array *array, double top, FILE *to)
{
    char   name[NAME_SIZE], cut[CLI_LEGEND_NAME_SIZE];
    size_t rows = cli_legend_rows(&l->legend);
    for (size_t entry = 0; entry < array->entries; entry++) {
        size_t column = entry / rows, line = entry % rows;
        double x = l->right + GAP + l->column * (double)column;
        double y = screen_y(l, top + FIRST_LINE + LINE * (double)line);
        name_curve(plot, array, entry, name);
        cli_legend_cut(&l->legend, name, cut);
        if (plot->batch->rows > 1)
            fprintf(to, "set arrow from screen %.6f,screen %.6f to screen %.6f,screen %.6f nohead lt %zu lw 1.5\n",
                    screen_x(x), y, screen_x(x + SAMPLE), y, entry + 1);
        fputs("set label ", to);
        print_quoted(to, cut);
        if (plot->batch->rows > 1)
            fprintf(to, " at screen %.6f,screen %.6f left\n", screen_x(x + SAMPLE + GAP / 2.0), y);
        else
            fprintf(to, " at screen %.6f,screen %.6f left point pt 7 lt %zu offset character 2,0\n",
                    screen_x(x + SAMPLE / 2.0), y, entry + 1);
    }
}

/* Draws one array: a line for each of its entries, or points if there is a single row. */
static void print_panel(const cli_plot_script *plot, const layout *l, size_t panel, const cli_array *array, FILE *to)
{
    const cli_array *times = cli_batch_find(plot->batch, "times");
    double           top   = TITLE + (double)(panel * l->panel);
    if (times && (times->rank > 0 || times->constant)) times = NULL;
    fputs("set xlabel ", to);
    print_quoted(to, times ? "time (s)" : "row");
    if (plot->batch->rows == 1) fputs("\nset xrange [-1:1]", to);
    fprintf(to, "\nset tmargin at screen %.6f\nset bmargin at screen %.6f\n", screen_y(l, top),
            screen_y(l, top + (double)l->panel - AXIS));
    print_data(to, plot->batch, array, times);
    print_range(to, plot->batch, array);
    print_label(to, array);
    print_legend(plot, l, array, top, to);
    for (size_t entry = 0; entry < array->entries; entry++)
        fprintf(to, "%s$data using 1:%zu with %s notitle", entry > 0 ? ", " : "plot ", entry + 2,
                plot->batch->rows > 1 ? "lines linewidth 1.5" : "points pointtype 7");
    fputs("\nunset label\nunset arrow\n", to);
}

void cli_plot_print(const cli_plot_script *plot, FILE *to)
{
    layout l     = lay_out(plot);
    size_t panel = 0;
    fprintf(to, "set encoding utf8\nset terminal %s size %d,%zu noenhanced font 'sans,11' background rgb 'white'\n",
            plot->png ? "pngcairo" : "svg", WIDTH, TITLE + l.panels * l.panel);
    fputs("set multiplot\nunset key\nset grid\nset datafile missing 'nan'\nset label ", to);
    print_quoted(to, plot->title);
    fprintf(to, " at screen 0.5,screen %.6f center\nset lmargin at screen %.6f\nset rmargin at screen %.6f\n",
            screen_y(&l, TITLE / 2.0), screen_x(LEFT), screen_x(l.right));
    for (size_t i = 0; i < plot->batch->n_arrays && panel < l.panels; i++)
        if (cli_plot_draws(plot, &plot->batch->arrays[i])) print_panel(plot, &l, panel++, &plot->batch->arrays[i], to);
    fputs("unset multiplot\nset output\n", to);
}
