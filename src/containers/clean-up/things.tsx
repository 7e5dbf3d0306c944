import type { Child } from 'hono/jsx'
import { bytes } from '../../web/units.ts'
import { kindLabels } from './page.tsx'
import { bytesOf, pruneKinds } from './kinds.ts'
import type { PruneKind, Thing } from './kinds.ts'

/** Longer groups start collapsed; at most `most` items are listed where none can be selected. */
export const few = 5
const maxShown = 100

/** Groups items by kind: a row with count and total size that expands to the items. */
export const Things = <T extends Thing>({
  things,
  hint = () => null,
  limit = maxShown,
  children: show,
}: {
  things: T[]
  limit?: number
  /** Shown above the items of a kind. */
  hint?: (kind: PruneKind) => Child
  children: (thing: T) => Child
}) => (
  <>
    {pruneKinds
      .map((kind) => ({ kind, of: things.filter((thing) => thing.kind === kind) }))
      .filter(({ of }) => of.length > 0)
      .map(({ kind, of }) => (
        <details class="prune-group" open={of.length <= few}>
          <summary>
            {kindLabels[kind]} <span class="count">{of.length.toLocaleString('en')}</span>
            {bytesOf(of) > 0 && <span class="disk-bytes">{bytes(bytesOf(of))}</span>}
          </summary>
          {hint(kind)}
          <ul class="rows prune-things" aria-label={kindLabels[kind]}>
            {of.slice(0, limit).map((thing) => (
              <li>{show(thing)}</li>
            ))}
            {of.length > limit && (
              <li>
                <span class="prune-thing muted">
                  and {(of.length - limit).toLocaleString('en')} more
                </span>
              </li>
            )}
          </ul>
        </details>
      ))}
  </>
)

export const Naming = ({
  thing: { kind, name, bytes: size },
  tag,
  said,
}: {
  thing: Thing
  tag?: Child
  said?: string | undefined
}) => (
  <>
    <span class="prune-name">
      <bdi>{name}</bdi> {tag}
      {said && <span class="muted">{said}</span>}
    </span>
    {kind !== 'networks' && (
      <span class="disk-bytes">{size === null ? 'unknown' : bytes(size)}</span>
    )}
  </>
)
