import { packScript, unpackIn, volumesFolder } from '../../runtime/volume-streams.ts'
import { eachSqlite } from '../sqlite.ts'
import { printHostKey } from './repository.ts'

/** The end of its input counts only after a mark of its own: if Davit is killed, what it wrote so far isn't all. */
export const untilComplete =
  'until [ -e "$DAVIT_COMPLETE" ]; do sleep 1; done; rm "$DAVIT_COMPLETE"'
export const storingRun = `{ cat && { ${untilComplete}; }; } | restic "$@" 2>&1`

/** By the mark, a complete output is told from one that was cut. */
export const marked = (command: string) =>
  `${command} || exit; printf %s "$DAVIT_END"; read -r _; exit 0`
export const markedRun = marked('restic "$@"')

/** Of snapshots, whichever server they are made on. */
export const host = 'davit'

/** The arguments of a snapshot. */
export const backup = (tags: string[]) => [
  ...['--json', 'backup', '--host', host],
  ...tags.flatMap((tag) => ['--tag', tag]),
]

/** Where the copies of files are that are stored in place of what volumes have, each below it at its path. */
export const copiesFolder = '/copies'

/** Puts restored copies where they belong. Fails where a link would lead elsewhere. */
const placeCopies = `( cd ${copiesFolder} && find . -type f -exec sh -c 'for file; do
folder=\${file#.}; folder=\${folder%/*}
mkdir -p "$folder" && [ "$(readlink -f "$folder")" = "$folder" ] && mv "$file" "\${file#.}" || exit
done' sh {} + )`

/** Holes stay holes where restic can: it has the option since 0.15. */
export const refillScript = `find ${volumesFolder} -mindepth 2 -delete || exit
case "$(restic restore --help)" in *--sparse*) set -- "$@" --sparse ;; esac
restic "$@" 2>&1 && ${placeCopies}`

/**
 * restic reads what is there, and writes what differs: it can since 0.17. It fills a file with holes that has two
 * names and differs in part (0.18), so those are removed first.
 */
export const updateScript = `case "$(restic restore --help)" in *--delete*)
find ${volumesFolder} -mindepth 2 ! -type d '(' ! -type f -o -links +1 ')' -delete || exit
restic "$@" --sparse --delete 2>&1 && ${placeCopies}
exit ;;
esac
${refillScript}`

const storing = `{ ${untilComplete}; } && restic "$@" 2>&1`

/** Stores volumes that arrive as an archive. */
export const arrivingScript = `${unpackIn('/')} && ${storing}`

/** Stores volumes, and copies that arrive as an archive. Each gets a time that no earlier one has. */
export const copyingScript = `${unpackIn(copiesFolder, { keepsTimes: false })} && ${storing}`

/** Passes restored volumes on as an archive. */
export const leavingScript = marked(
  `restic "$@" >&2 && ${placeCopies} && set -- volumes/* && { ${packScript}; }`,
)

/** Its volumes are at `_` and their names, as are copies. What a link leads to isn’t of the volume. */
export const measureScript = marked(`restic "$@" >&2 && cd ${volumesFolder} &&
printf 'davit-bytes %s\\n' "$(find . -type f -exec cat {} + | wc -c)" >&2 && find . -type l -delete &&
${eachSqlite(`set -- "$file" "$file-wal" "$file-journal"
for one; do [ -f "$one" ] || : >"$one"; done
printf "%s %s %s %s\\n" $(wc -c <"$1") $(wc -c <"$2") $(wc -c <"$3") "\${1#*${volumesFolder}/_}" && cat "$@" || exit`)}`)

/** restic 0.14 has another name for it. */
export const adoptScript = `exec 2>&1
case "$(restic help)" in *' repair '*) restic "$@" repair index ;; *) restic "$@" rebuild-index ;; esac`

export const trialScript = `set -e
stored=$(printf %s "$DAVIT_TRIAL" | restic "$@" --json backup --host ${host} --tag davit-trial --stdin --stdin-filename trial)
id=$(printf %s "$stored" | sed -n 's/.*"snapshot_id":"\\([0-9a-f]*\\)".*/\\1/p')
read=$(restic "$@" dump "$id" /trial)
[ "$read" = "$DAVIT_TRIAL" ] || { echo 'wrong data returned'; exit 1; }
restic "$@" forget "$id" >/dev/null`

/** Prints the host key, too. */
export const openingScript = `restic "$@" 2>&1; code=$?; ${printHostKey}; exit $code`
