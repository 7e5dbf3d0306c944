import { EmptyState } from '../../web/components.tsx'
import { Button, ButtonLink, PostForm } from '../../web/form.tsx'
import { bytes } from '../../web/units.ts'
import { kindLabels } from './kind-choice.tsx'
import { itemOf, pruneKinds } from './kinds.ts'
import type { PruneKind } from './kinds.ts'
import { prunePath } from './page.tsx'
import { isTickedByDefault } from './plan.ts'
import type { Judged, Plan } from './plan.ts'
import { bytesOf } from './prune.ts'

/** Names each thing that may go, ticked where it goes by default, and what stays. */
export const PrunePreview = ({ plan, what }: { plan: Plan; what: readonly PruneKind[] }) => (
  <div id="clean-up">
    {plan.candidates.length === 0 ? (
      <EmptyState title="Nothing can go">
        <p>All that is there is in use, or needed by an app, a service or a rollback.</p>
        <ButtonLink href={prunePath}>Back</ButtonLink>
      </EmptyState>
    ) : (
      <Choice candidates={plan.candidates} what={what} />
    )}
    {plan.kept.length > 0 && <Kept things={plan.kept} />}
  </div>
)

const Choice = ({ candidates, what }: { candidates: Judged[]; what: readonly PruneKind[] }) => (
  <PostForm
    action={prunePath}
    class="form"
    live
    hx-target="#clean-up"
    hx-swap="outerHTML show:window:top"
    hx-disable="find button[type=submit]"
  >
    <p>
      {summary(candidates)} Nothing has gone yet. What you tick goes; what has come into use by then
      stays.
    </p>
    {what.map((kind) => (
      <input type="hidden" name="what" value={kind} />
    ))}
    <input type="hidden" name="items" value="" />
    {groups(candidates).map(({ kind, things }) => (
      <fieldset class="prune-group">
        <legend>
          {kindLabels[kind]}{' '}
          {bytesOf(things) > 0 && <span class="muted">{bytes(bytesOf(things))}</span>}
        </legend>
        {kind === 'volumes' && <p class="hint">Volumes hold data. There is no way back.</p>}
        <ul class="rows prune-things">
          {things.map((thing) => (
            <Thing thing={thing} />
          ))}
        </ul>
      </fieldset>
    ))}
    <div class="form-actions start">
      <Button variant="destructive">Remove what is ticked</Button>
      <ButtonLink variant="outline" href={prunePath}>
        Cancel
      </ButtonLink>
    </div>
  </PostForm>
)

const Thing = ({ thing }: { thing: Judged }) => (
  <li>
    <label class="prune-thing">
      <input
        type="checkbox"
        name="items"
        value={itemOf(thing)}
        checked={isTickedByDefault(thing)}
      />
      <Naming thing={thing} />
    </label>
  </li>
)

const Naming = ({ thing: { kind, name, owner, reason, bytes: size } }: { thing: Judged }) => (
  <>
    <span class="prune-name">
      <bdi>{name}</bdi> {owner === 'other' && <span class="tag">not Davit’s</span>}
      <span class="muted">{reason}</span>
    </span>
    {kind !== 'networks' && (
      <span class="disk-bytes">{size === null ? 'unknown' : bytes(size)}</span>
    )}
  </>
)

const Kept = ({ things }: { things: Judged[] }) => (
  <details class="disclosure">
    <summary>
      What stays, and why <span class="count">{things.length}</span>
    </summary>
    {groups(things).map(({ kind, things }) => (
      <section class="prune-group">
        <h3>{kindLabels[kind]}</h3>
        <ul class="rows prune-things">
          {things.map((thing) => (
            <li>
              <span class="prune-thing">
                <Naming thing={thing} />
              </span>
            </li>
          ))}
        </ul>
      </section>
    ))}
  </details>
)

/** In each Davit's own first, and then the largest. */
function groups(things: Judged[]) {
  return pruneKinds.flatMap((kind) => {
    const ofKind = things.filter((thing) => thing.kind === kind)
    return ofKind.length > 0 ? [{ kind, things: ofKind.toSorted(byOwnerAndSize) }] : []
  })
}

const byOwnerAndSize = (a: Judged, b: Judged) =>
  Number(a.owner === 'other') - Number(b.owner === 'other') || (b.bytes ?? 0) - (a.bytes ?? 0)

function summary(candidates: Judged[]) {
  const going = candidates.filter(isTickedByDefault)
  if (going.length === 0) return 'Nothing is ticked: all that can go is others’, or data.'
  const things = going.length === 1 ? '1 thing is ticked' : `${going.length} things are ticked`
  const back = bytesOf(going)
  return back > 0 ? `${things}, which gives back ${bytes(back)} or more.` : `${things}.`
}
