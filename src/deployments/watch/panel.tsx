import type { Child } from 'hono/jsx'
import type { FailedRequests, VersionFigures, WatchEnd } from '../../db/schema.ts'
import { ShareActions } from '../../environments/share-note.tsx'
import { deploymentPath } from '../../projects/deployment-list.tsx'
import { Button, PostForm } from '../../web/form.tsx'
import { bytes, counted, duration, units } from '../../web/units.ts'
import type { WatchView } from './view.ts'

type Props = { view: WatchView; path: string }

/** Both versions side by side, while one can take over for the other and after that. */
export const WatchPanel = ({ view, path }: Props) => (
  <section class="watch" aria-labelledby="watch-heading">
    <div class="section-head">
      <h2 id="watch-heading">{titleOf(view)}</h2>
      {view.until && (
        <span class="muted">{`${duration(view.until.getTime() - Date.now())} left`}</span>
      )}
    </div>
    <p class="muted">{introOf(view)}</p>
    <Figures view={view} />
    {view.until && view.share && <ShareActions path={path} />}
    {view.until && !view.share && (
      <PostForm action={`${path}/keep`} class="actions">
        <Button small variant="outline">
          Keep this version
        </Button>
      </PostForm>
    )}
    {view.requests.length > 0 && <Requests requests={view.requests} />}
    {view.lines.length > 0 && (
      <>
        <h3>Its last lines</h3>
        <pre class="log quote">{view.lines.join('\n')}</pre>
      </>
    )}
  </section>
)

function titleOf({ until, share }: WatchView) {
  if (share) return `${share.percent} % of the requests`
  return until ? 'Watching the new version' : 'After the switch'
}

function introOf({ until, end, why, on, before, share }: WatchView): Child {
  const name = before ? `#${before.number}` : 'the version before'
  if (until && share)
    return `The others reach ${name}. This version is taken back ${reasons(on)}, or when the time is over.`
  if (until) return `Requests go back to ${name}, which still runs, ${reasons(on)}.`
  if (why !== null) return why
  if (end === 'reverted') return `Requests went back to ${name}.`
  return intros[end ?? 'over'] ?? 'No reason to go back was found while this version was watched.'
}

const early = (why: string) => `The watch ended early, as the version was ${why}.`

const intros: Partial<Record<WatchEnd, string>> = {
  kept: 'The watch was ended by hand: this version stayed.',
  replaced: early('changed'),
  interrupted: early('restarted, or a newer one failed'),
  stopped: early('stopped'),
}

const sentences = {
  crash: 'when it crashes',
  health: 'fails its health check three times in a row',
  errors: 'answers many requests with an error',
}

const reasons = (on: WatchView['on']) =>
  new Intl.ListFormat('en', { type: 'disjunction' }).format(on.map((one) => sentences[one]))

const Figures = ({ view: { before, current, previous, number, share } }: Pick<Props, 'view'>) => {
  const when = share ? 'at the same time' : 'in the hour before'
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">
            <span class="visually-hidden">Figure</span>
          </th>
          <th scope="col">{`#${number}, ${share ? 'its share' : 'since the switch'}`}</th>
          <th scope="col">
            {before ? (
              <>
                <a href={deploymentPath(before)}>{`#${before.number}`}</a>, {when}
              </>
            ) : (
              `Before, ${when}`
            )}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, show]) => (
          <tr>
            <th scope="row">{name}</th>
            <td>{show(current)}</td>
            <td>{show(previous)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

export type ShownFigures = VersionFigures & { restarts: number | null; memory: number | null }

const milliseconds = (value: number | null) => (value === null ? '–' : units.duration(value))

const rows: [name: string, show: (figures: ShownFigures) => string][] = [
  ['Requests', ({ requests }) => requests.toLocaleString('en')],
  ['Errors (5xx)', ({ errors }) => errors.toLocaleString('en')],
  ['Median', ({ p50 }) => milliseconds(p50)],
  ['95th percentile', ({ p95 }) => milliseconds(p95)],
  ['Restarts', ({ restarts }) => restarts?.toLocaleString('en') ?? '–'],
  ['Memory', ({ memory }) => (memory === null ? '–' : bytes(memory))],
]

/** The most frequent ones. */
const shownRequests = 10

const Requests = ({ requests }: { requests: FailedRequests[] }) => (
  <>
    <h3>Requests that failed</h3>
    <ul class="rows">
      {requests.slice(0, shownRequests).map(({ status, method, path, count }) => (
        <li class="row">
          <code dir="auto">{`${method} ${path}`}</code>
          <span>{`${status}, ${counted(count, 'request')}`}</span>
        </li>
      ))}
      {requests.length > shownRequests && (
        <li class="row muted">{`and ${requests.length - shownRequests} more`}</li>
      )}
    </ul>
  </>
)
