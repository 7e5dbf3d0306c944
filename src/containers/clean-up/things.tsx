import { bytes } from '../../web/units.ts'
import { bytesOf, isTickedByDefault, itemOf, kindLabels, pruneKinds } from './kinds.ts'
import type { Thing } from './kinds.ts'
import type { Judged } from './plan.ts'

/** Longer groups start collapsed; at most so many items are listed where none can be selected. */
export const few = 5
const maxShown = 100

type Listed = Thing & Partial<Pick<Judged, 'owner' | 'reason'>>

/** Groups items by kind: a row with count and total size that expands to the items. */
export const Things = ({
  things,
  isChoice = false,
}: {
  things: Listed[]
  /** Gives each item a checkbox, ticked if it is removed by default. */
  isChoice?: boolean
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
          {isChoice && kind === 'volumes' && (
            <p class="hint">Volumes hold data. This can’t be undone.</p>
          )}
          <ul class="rows prune-things" aria-label={kindLabels[kind]}>
            {(isChoice ? of : of.slice(0, maxShown)).map((thing) => (
              <li>
                {isChoice ? (
                  <label class="prune-thing">
                    <input
                      class="input"
                      type="checkbox"
                      name="items"
                      value={itemOf(thing)}
                      checked={thing.owner && isTickedByDefault({ kind, owner: thing.owner })}
                    />
                    <ThingFacts {...thing} />
                  </label>
                ) : (
                  <span class="prune-thing">
                    <ThingFacts {...thing} />
                  </span>
                )}
              </li>
            ))}
            {!isChoice && of.length > maxShown && (
              <li>
                <span class="prune-thing muted">
                  and {(of.length - maxShown).toLocaleString('en')} more
                </span>
              </li>
            )}
          </ul>
        </details>
      ))}
  </>
)

const ThingFacts = ({ kind, name, bytes: size, owner, reason, server }: Listed) => (
  <>
    <span class="prune-name">
      <bdi>{name}</bdi> {server && <span class="tag">{server.name}</span>}{' '}
      {owner === 'other' && <span class="tag">not Davit’s</span>}
      {reason && <span class="muted">{reason}</span>}
    </span>
    {kind !== 'networks' && (
      <span class="disk-bytes">{size === null ? 'unknown' : bytes(size)}</span>
    )}
  </>
)
