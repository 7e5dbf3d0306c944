import { EmptyState } from '../../web/components.tsx'
import { Ago } from '../../web/times.tsx'
import { bytes } from '../../web/units.ts'
import type { CleanUp } from './clean-ups.ts'
import { countByKind, thingKind } from './kinds.ts'
import type { Thing } from './kinds.ts'
import { prunePath } from './page.tsx'
import { bytesOf } from './prune.ts'
import { ButtonLink } from '../../web/form.tsx'

/** What went and what did not; asks again every two seconds while it is at work. */
export const PruneResult = ({ run }: { run: CleanUp | null }) =>
  run?.finishedAt === null ? (
    <div
      id="clean-up"
      hx-get={`${prunePath}/result`}
      hx-trigger="every 2s"
      hx-swap="outerHTML"
      aria-busy="true"
    >
      <Result run={run} title="Cleaning up…" />
    </div>
  ) : (
    <div id="clean-up">
      {run ? (
        <Result run={run} title={run.error ? 'The clean-up broke off' : 'Cleaned up'} />
      ) : (
        <EmptyState title="No clean-up yet">
          <p>Davit has cleaned up nothing since it started. The audit log has what was before.</p>
        </EmptyState>
      )}
      <p class="more">
        <ButtonLink variant="outline" href={prunePath}>
          To the clean-up
        </ButtonLink>
      </p>
    </div>
  )

const Result = ({ run, title }: { run: CleanUp; title: string }) => {
  const { removed, skipped } = run.outcome
  return (
    <div class="form">
      <div>
        <h2 role="status">{title}</h2>
        <p class="row-facts">
          <span>
            by <bdi>{run.by}</bdi>
          </span>
          <Ago at={run.startedAt} />
        </p>
      </div>
      <p>{summary(removed)}</p>
      {removed.length > 0 && <Things things={removed} />}
      {skipped.length > 0 && (
        <section class="prune-group">
          <h3>Left as it was</h3>
          <Things things={skipped} />
        </section>
      )}
    </div>
  )
}

function summary(removed: Thing[]) {
  const given = bytesOf(removed)
  return `Removed ${countByKind(removed)}${given > 0 ? `, which gave back ${bytes(given)} or more` : ''}.`
}

const Things = ({ things }: { things: (Thing & { reason?: string })[] }) => (
  <ul class="rows prune-things">
    {things.map(({ kind, name, bytes: size, reason }) => (
      <li>
        <span class="prune-thing">
          <span class="prune-name">
            <bdi>{name}</bdi>
            <span class="muted">{reason ?? thingKind(kind).replace('_', ' ')}</span>
          </span>
          {!reason && <span class="disk-bytes">{size === null ? 'unknown' : bytes(size)}</span>}
        </span>
      </li>
    ))}
  </ul>
)
