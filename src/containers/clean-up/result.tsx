import { EmptyState } from '../../web/components.tsx'
import { Live } from '../../web/live.tsx'
import { Ago } from '../../web/times.tsx'
import { bytes } from '../../web/units.ts'
import type { CleanUp } from './clean-ups.ts'
import { bytesOf, countByKind } from './kinds.ts'
import type { Thing } from './kinds.ts'
import { prunePath } from './page.tsx'
import { Things } from './things.tsx'
import { ButtonLink } from '../../web/form.tsx'

export const PruneResult = ({ run }: { run: CleanUp | null }) => {
  const isBusy = run !== null && run.finishedAt === null
  return (
    <Live id="clean-up" aria-busy={isBusy ? 'true' : undefined}>
      {run ? (
        <Result run={run} title={isBusy ? 'Cleaning up…' : titleOf(run)} />
      ) : (
        <EmptyState title="No clean-up yet">
          <p>
            Nothing has been cleaned up since Davit started. Earlier clean-ups are in the audit log.
          </p>
        </EmptyState>
      )}
      {!isBusy && (
        <p class="more">
          <ButtonLink variant="outline" href={prunePath}>
            Back to clean-up
          </ButtonLink>
        </p>
      )}
    </Live>
  )
}

const titleOf = ({ error }: CleanUp) => (error ? 'The clean-up failed' : 'Cleaned up')

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
      {removed.length > 0 && (
        <div>
          <Things things={removed} />
        </div>
      )}
      {skipped.length > 0 && (
        <section>
          <h3>Kept</h3>
          <Things things={skipped} />
        </section>
      )}
    </div>
  )
}

function summary(removed: Thing[]) {
  const given = bytesOf(removed)
  return `Removed ${countByKind(removed)}${given > 0 ? `, which freed ${bytes(given)} or more` : ''}.`
}
