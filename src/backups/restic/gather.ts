import { gatheringFolder, gatheringLimits } from './run.ts'
import { marked, untilComplete } from './scripts.ts'
import { listing } from './snapshots.ts'

/** restic 0.18.0 can’t store a stream as a file in a directory. */
export const storedName = (file: string) => file.replace(/[^\w.-]/g, '_')

const MiB = 2 ** 20
const block = 65_536

/** Bytes from which on a file is too large to be gathered. */
export const storesFrom = gatheringLimits.one * MiB

/** Before the bytes of a file that was gathered. */
export const gatheredMark = 'davit-gathered '

/** Stores a file that is too large to be gathered as it comes in. */
export const gatheringRun = `file=${gatheringFolder}/$DAVIT_FILE
dd of="$file" bs=${block} count=$((DAVIT_LIMIT / ${block})) iflag=fullblock 2>/dev/null || exit
bytes=$(wc -c <"$file") || exit
if [ "$bytes" -lt "$DAVIT_LIMIT" ]; then
printf '${gatheredMark}%s\\n' $bytes; exit
fi
{ cat "$file" && rm "$file" && cat && { ${untilComplete}; }; } | restic "$@" 2>&1`

/**
 * Stores what was gathered, and prints what the repository has then: restic takes its time to start. Its input is one
 * more file, of which Davit says the length: a killed one can't have written all of it.
 */
export const completingRun = `cd ${gatheringFolder} || exit
if [ "$DAVIT_FILE" ]; then
cat >"$DAVIT_FILE" && [ "$(wc -c <"$DAVIT_FILE")" -eq "$DAVIT_BYTES" ] || exit
fi
restic "$@" $DAVIT_BACKUP 2>&1 && restic "$@" ${listing.join(' ')} 2>&1`

/** The first file that is read of a snapshot brings all of them. */
export const readingRun = `cd ${gatheringFolder} || exit
[ -e "$DAVIT_SNAPSHOT" ] || { restic "$@" >&2 && mv part "$DAVIT_SNAPSHOT"; } || exit
${marked('cat "$DAVIT_SNAPSHOT/$DAVIT_FILE"')}`

/** What was gathered for one snapshot. */
export function gatheringRoom() {
  const names = new Set<string>()
  const taken = new Set<string>()
  let bytes = 0
  return {
    names: names as ReadonlySet<string>,
    /** Null without room for one more, or for one of that name. Else call the result with its size, or null for a large one. */
    take(name: string) {
      const isFull = bytes + storesFrom > gatheringLimits.all * MiB
      if (taken.has(name) || taken.size >= gatheringLimits.count || isFull) return null
      taken.add(name)
      bytes += storesFrom
      return (size: number | null) => {
        bytes += (size ?? 0) - storesFrom
        if (size !== null) names.add(name)
      }
    },
  }
}
