# bash completion of heapdex; printed by: heapdex __complete bash
_heapdex()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            index|estimate|info|histogram|dominators|object|objects|refs|path|retained|roots|threads|leaks|export|verify|remove|detect|strip|restore) command=${COMP_WORDS[i]}; break ;;
        esac
    done
    COMPREPLY=()
    [[ $prev == '=' ]] && prev=${COMP_WORDS[COMP_CWORD-2]}
    [[ $cur == '=' ]] && { cur=; }
    case $command:$prev in
        index:--until) COMPREPLY=($(compgen -W 'objects outbound inbound dominators' -- "$cur")); return ;;
        index:--with) COMPREPLY=($(compgen -W 'class-retained' -- "$cur")); return ;;
        estimate:--until) COMPREPLY=($(compgen -W 'objects outbound inbound dominators' -- "$cur")); return ;;
        histogram:--by) COMPREPLY=($(compgen -W 'class package loader superclass heap' -- "$cur")); return ;;
        dominators:--by) COMPREPLY=($(compgen -W 'object class package loader' -- "$cur")); return ;;
        refs:--by) COMPREPLY=($(compgen -W 'class' -- "$cur")); return ;;
        path:--exclude) COMPREPLY=($(compgen -W 'weak soft phantom finalizer' -- "$cur")); return ;;
        roots:--by) COMPREPLY=($(compgen -W 'type' -- "$cur")); return ;;
        leaks:--finder) COMPREPLY=($(compgen -W 'watched filters classes' -- "$cur")); return ;;
        leaks:--fail-on) COMPREPLY=($(compgen -W 'application library any' -- "$cur")); return ;;
        export:--table) COMPREPLY=($(compgen -W 'objects references named_references classes loaders roots threads packages dump' -- "$cur")); return ;;
        export:--format) COMPREPLY=($(compgen -W 'csv tsv jsonl' -- "$cur")); return ;;
        strip:--policy) COMPREPLY=($(compgen -W 'matrix koom tailor shark redact' -- "$cur")); return ;;
        *:--format) COMPREPLY=($(compgen -W 'table json jsonl csv tsv' -- "$cur")); return ;;
        *:--reachable) COMPREPLY=($(compgen -W 'live all garbage' -- "$cur")); return ;;
        *:--units) COMPREPLY=($(compgen -W 'bytes human' -- "$cur")); return ;;
        *:--progress) COMPREPLY=($(compgen -W 'auto always never json' -- "$cur")); return ;;
        *:--color) COMPREPLY=($(compgen -W 'auto always never' -- "$cur")); return ;;
    esac
    if [[ $cur == -* ]]; then
        case $command in
            index) COMPREPLY=($(compgen -W '--force --until --with --format --output --columns --sort --limit --where --units --raw --threads --memory --max-uncompressed --dump-number --index-dir --no-build --no-wait --progress --color --no-pager --quiet --verbose --schema --help --version' -- "$cur")) ;;
            estimate) COMPREPLY=($(compgen -W '--until --format --output --columns --sort --limit --where --units --raw --threads --memory --max-uncompressed --dump-number --index-dir --progress --color --no-pager --quiet --verbose --schema --help --version' -- "$cur")) ;;
            info) COMPREPLY=($(compgen -W '--format --output --columns --sort --limit --where --reachable --units --raw --threads --memory --max-uncompressed --dump-number --index-dir --no-build --no-wait --progress --color --no-pager --quiet --verbose --schema --help --version' -- "$cur")) ;;
            histogram) COMPREPLY=($(compgen -W '--by --class --retained --scan --format --output --columns --sort --limit --where --reachable --units --raw --threads --memory --max-uncompressed --dump-number --index-dir --no-build --no-wait --progress --color --no-pager --quiet --verbose --schema --help --version' -- "$cur")) ;;
            dominators) COMPREPLY=($(compgen -W '--by --depth --format --output --columns --sort --limit --where --reachable --units --raw --threads --memory --max-uncompressed --dump-number --index-dir --no-build --no-wait --progress --color --no-pager --quiet --verbose --schema --help --version' -- "$cur")) ;;
            object) COMPREPLY=($(compgen -W '--elements --format --output --columns --sort --limit --where --reachable --units --raw --threads --memory --max-uncompressed --dump-number --index-dir --no-build --no-wait --progress --color --no-pager --quiet --verbose --schema --help --version' -- "$cur")) ;;
            objects) COMPREPLY=($(compgen -W '--class --subclasses --format --output --columns --sort --limit --where --reachable --units --raw --threads --memory --max-uncompressed --dump-number --index-dir --no-build --no-wait --progress --color --no-pager --quiet --verbose --schema --help --version' -- "$cur")) ;;
            refs) COMPREPLY=($(compgen -W '--by --out --in --format --output --columns --sort --limit --where --reachable --units --raw --threads --memory --max-uncompressed --dump-number --index-dir --no-build --no-wait --progress --color --no-pager --quiet --verbose --schema --help --version' -- "$cur")) ;;
            path) COMPREPLY=($(compgen -W '--exclude --exclude-field --paths --limit --merge --format --output --columns --sort --where --reachable --units --raw --threads --memory --max-uncompressed --dump-number --index-dir --no-build --no-wait --progress --color --no-pager --quiet --verbose --schema --help --version' -- "$cur")) ;;
            retained) COMPREPLY=($(compgen -W '--class --subclasses --format --output --columns --sort --limit --where --reachable --units --raw --threads --memory --max-uncompressed --dump-number --index-dir --no-build --no-wait --progress --color --no-pager --quiet --verbose --schema --help --version' -- "$cur")) ;;
            roots) COMPREPLY=($(compgen -W '--by --format --output --columns --sort --limit --where --reachable --units --raw --threads --memory --max-uncompressed --dump-number --index-dir --no-build --no-wait --progress --color --no-pager --quiet --verbose --schema --help --version' -- "$cur")) ;;
            threads) COMPREPLY=($(compgen -W '--stacks --locals --format --output --columns --sort --limit --where --reachable --units --raw --threads --memory --max-uncompressed --dump-number --index-dir --no-build --no-wait --progress --color --no-pager --quiet --verbose --schema --help --version' -- "$cur")) ;;
            leaks) COMPREPLY=($(compgen -W '--finder --class --matchers --filters --mapping --no-retained --key --min-watch --junit --fail-on --format --output --columns --sort --limit --where --reachable --units --raw --threads --memory --max-uncompressed --dump-number --index-dir --no-build --no-wait --progress --color --no-pager --quiet --verbose --schema --help --version' -- "$cur")) ;;
            export) COMPREPLY=($(compgen -W '--table --format --output --columns --sort --limit --where --reachable --units --raw --threads --memory --max-uncompressed --dump-number --index-dir --no-build --no-wait --progress --color --no-pager --quiet --verbose --schema --help --version' -- "$cur")) ;;
            verify) COMPREPLY=($(compgen -W '--full --format --output --columns --sort --limit --where --units --raw --threads --memory --max-uncompressed --dump-number --index-dir --no-build --no-wait --progress --color --no-pager --quiet --verbose --schema --help --version' -- "$cur")) ;;
            remove) COMPREPLY=($(compgen -W '--format --output --columns --sort --limit --where --units --raw --dump-number --index-dir --no-wait --progress --color --no-pager --quiet --verbose --schema --help --version' -- "$cur")) ;;
            detect) COMPREPLY=($(compgen -W '--full --format --output --columns --sort --limit --where --units --raw --max-uncompressed --progress --color --no-pager --quiet --verbose --schema --help --version' -- "$cur")) ;;
            strip) COMPREPLY=($(compgen -W '--policy --output --keep-class --drop-class --keep-bitmaps --map-names --plain --format --columns --sort --limit --where --units --raw --max-uncompressed --progress --color --no-pager --quiet --verbose --schema --help --version' -- "$cur")) ;;
            restore) COMPREPLY=($(compgen -W '--output --format --columns --sort --limit --where --units --raw --max-uncompressed --progress --color --no-pager --quiet --verbose --schema --help --version' -- "$cur")) ;;
            *) COMPREPLY=($(compgen -W '--format --output --columns --sort --limit --where --reachable --units --raw --threads --memory --max-uncompressed --dump-number --index-dir --no-build --no-wait --progress --color --no-pager --quiet --verbose --schema --help --version' -- "$cur")) ;;
        esac
    elif [[ -z $command ]]; then
        COMPREPLY=($(compgen -W 'index estimate info histogram dominators object objects refs path retained roots threads leaks export verify remove detect strip restore' -- "$cur"))
    fi
}
complete -o default -o bashdefault -F _heapdex heapdex
