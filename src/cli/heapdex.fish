# fish completion of heapdex; printed by: heapdex __complete fish
function __heapdex_offers
    set -l words (commandline -opc)
    set -l raw (commandline -ct)
    set -l current
    for quote in '' \' '"' # an open one is closed for reading
        set current (string unescape -- "$raw$quote")
        test -n "$current"; and break
    end
    test (count $words) -gt 0; or return
    $words[1] __complete words $words[2..-1] "$current" 2>/dev/null | tail -n +2 | string match -r '.+'
end
complete -c heapdex -f -a '(__heapdex_offers)'
