import type { Context } from 'hono'
import type { Config } from '../config.ts'
import { report } from '../platform/journal.ts'
import type { Removed } from '../runtime/remove.ts'
import { Modal } from '../web/dialog.tsx'
import { ButtonLink } from '../web/form.tsx'
import { show } from '../web/respond.tsx'
import { within } from '../web/within.ts'

type Subject = { of: 'project' | 'service'; id: string; name: string }

/** Waits for a removal as long as a request may; answers with what went, or that it is still going on. */
export async function answerRemoval(
  c: Context,
  { config }: { config: Pick<Config, 'patience'> },
  { work, ...subject }: Subject & { work: Promise<Removed[]> },
) {
  const { of, id, name } = subject
  const removed = await within(config.patience, work)
  if (!removed) {
    work.catch((error) => report(`a ${of} was not removed`, error, { [of]: id }))
    c.header('Location', `/${of}s/${id}`)
  }
  const view = {
    title: `Delete ${name}`,
    page: () => <RemovalReport {...subject} removed={removed} />,
    json: () => ({ removed: removed ?? [] }),
  }
  return show(c, view, removed ? 200 : 202)
}

/** What went with a project or service; null while its removal goes on. */
const RemovalReport = ({ of, name, removed }: Subject & { removed: Removed[] | null }) => (
  <Modal
    title={
      <>
        <bdi>{name}</bdi> {removed ? 'is gone' : 'is being deleted'}
      </>
    }
  >
    <div class="form">
      {removed ? (
        <>
          <p>This went with it:</p>
          <ul class="removed">
            {removed.map((thing) => (
              <li>
                <span class="muted">{thing.kind}</span> <code>{thing.name}</code>
              </li>
            ))}
          </ul>
        </>
      ) : (
        <p>
          Stopping its containers takes a while. The work goes on by itself; the {of} disappears
          from the list when it is done.
        </p>
      )}
      <div class="form-actions">
        <ButtonLink href={`/${of}s`} autofocus>
          To the {of}s
        </ButtonLink>
      </div>
    </div>
  </Modal>
)
