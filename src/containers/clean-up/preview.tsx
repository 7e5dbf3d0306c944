import { EmptyState } from '../../web/components.tsx'
import { Button, ButtonLink, PostForm } from '../../web/form.tsx'
import { bytes, counted } from '../../web/units.ts'
import { allOf, bytesOf, isTickedByDefault } from './kinds.ts'
import type { PruneKind } from './kinds.ts'
import { prunePath } from './page.tsx'
import type { Judged, Plan } from './plan.ts'
import { few, Things } from './things.tsx'

/** Lists each item that may be removed, selected if removed by default, and what is kept. */
type Choices = { what: readonly PruneKind[]; server: string | null }

export const PrunePreview = ({ plan, ...choices }: Choices & { plan: Plan }) => (
  <div id="clean-up">
    {plan.candidates.length === 0 ? (
      <EmptyState title="Nothing to remove">
        <p>Everything is in use, or needed by an app, a service or a rollback.</p>
        <ButtonLink href={prunePath}>Back</ButtonLink>
      </EmptyState>
    ) : (
      <Choice candidates={plan.candidates} {...choices} />
    )}
    {plan.kept.length > 0 && <Kept things={plan.kept} />}
  </div>
)

const Choice = ({ candidates, what, server }: Choices & { candidates: Judged[] }) => {
  const ofCache = candidates.filter(({ kind }) => kind === 'build_cache')
  const cache = ofCache.length > few ? ofCache : []
  const listed = candidates.filter((thing) => !cache.includes(thing))
  return (
    <PostForm
      action={prunePath}
      class="form"
      replaces="#clean-up"
      hx-swap="outerHTML show:window:top"
    >
      <p>
        {summary(candidates)} Nothing has been removed yet. Selected items are removed unless they
        are in use by then.
      </p>
      {what.map((kind) => (
        <input type="hidden" name="what" value={kind} />
      ))}
      {server && <input type="hidden" name="server" value={server} />}
      <input type="hidden" name="items" value="" />
      <div>
        <Things things={listed.toSorted(byOwnerAndSize)} isChoice />
        {cache.length > 0 && <BuildCache entries={cache} />}
      </div>
      <div class="form-actions start">
        <Button variant="destructive">Remove selected</Button>
        <ButtonLink variant="outline" href={prunePath}>
          Cancel
        </ButtonLink>
      </div>
    </PostForm>
  )
}

/** Selected as a whole: there may be thousands of entries that a user can't tell apart. */
const BuildCache = ({ entries }: { entries: Judged[] }) => (
  <>
    <label class="prune-thing prune-all">
      <input type="checkbox" name="items" value={allOf('build_cache')} checked />
      All of the build cache below
    </label>
    <Things things={entries.toSorted(byOwnerAndSize)} />
  </>
)

const Kept = ({ things }: { things: Judged[] }) => (
  <details class="disclosure">
    <summary>
      What is kept, and why <span class="count">{things.length}</span>
    </summary>
    <Things things={things.toSorted(byOwnerAndSize)} />
  </details>
)

/** Davit's own first, then the largest. */
const byOwnerAndSize = (a: Judged, b: Judged) =>
  Number(a.owner === 'other') - Number(b.owner === 'other') || (b.bytes ?? 0) - (a.bytes ?? 0)

function summary(candidates: Judged[]) {
  const going = candidates.filter(isTickedByDefault)
  if (going.length === 0)
    return 'Nothing is selected: what is listed holds data, or wasn’t created by Davit.'
  const things = counted(going.length, 'item is selected', 'items are selected')
  const back = bytesOf(going)
  return back > 0 ? `${things}, which frees ${bytes(back)} or more.` : `${things}.`
}
