/*
 * sql_text.h - is a text one statement of SQL, as far as quotes and parentheses go? What came into it from elsewhere
 * must have stayed in its quotes: outside of them no end of the statement and no comment can stand.
 */
#ifndef HDX_TESTS_SUPPORT_SQL_TEXT_H
#define HDX_TESTS_SUPPORT_SQL_TEXT_H

#include <stdbool.h>
#include <string.h>

static inline bool sql_is_one_statement(const char *sql)
{
    long open = 0;
    if (strncmp(sql, "SELECT ", 7) != 0)
        return false;
    for (const char *s = sql; *s != '\0'; s++) {
        if (*s == '\'' || *s == '"') {
            const char quote = *s++;
            while (*s != '\0' && (*s != quote || s[1] == quote))
                s += *s == quote ? 2 : 1;
            if (*s == '\0')
                return false;
        } else if (*s == '(')
            open++;
        else if (*s == ')') {
            if (--open < 0)
                return false;
        } else if (*s == ';' || (*s == '-' && s[1] == '-') || (*s == '/' && s[1] == '*') || (*s & 0x80) != 0 ||
                   (unsigned char)*s < ' ')
            return false;
    }
    return open == 0;
}

#endif
