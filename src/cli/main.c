/* main.c - the program. Everything is in hdx_cli_main (run.c), in the room's library, where tests can reach it too. */
int hdx_cli_main(int                argc,
                 const char *const *argv); /* as in cli.h, which this one file outside the library does not see */

int main(int argc, char **argv) { return hdx_cli_main(argc, (const char *const *)argv); }
