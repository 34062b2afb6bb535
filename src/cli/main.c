/* main.c - the program. hdx_cli_main (run.c) is in the library of this room, so that tests can call it too. */

/* declared as in cli.h, which this file cannot include because it is not part of the library */
int hdx_cli_main(int argc, const char *const *argv);

int main(int argc, char **argv) { return hdx_cli_main(argc, (const char *const *)argv); }
