# bash completion of heapdex; printed by: heapdex __complete bash
_heapdex()
{
    local program=${1:-${COMP_WORDS[0]}} line=${COMP_LINE:0:COMP_POINT} offer i
    COMPREPLY=()
    if [[ -z $line ]]; then
        line=${COMP_WORDS[0]}
        for ((i = 1; i <= COMP_CWORD; i++)); do
            [[ ${COMP_WORDS[i]} == [=:] || ${COMP_WORDS[i-1]} == [=:] ]] || line+=' '
            line+=${COMP_WORDS[i]}
        done
    fi
    while IFS= read -r offer; do
        COMPREPLY+=("$offer")
    done < <("${program/#\~/$HOME}" __complete line "$line" "$COMP_WORDBREAKS" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[/=:.,\#\ ] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -F _heapdex heapdex
