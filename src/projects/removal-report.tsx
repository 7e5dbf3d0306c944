import { Modal } from '../web/dialog.tsx'
import { ButtonLink } from '../web/form.tsx'

/** What went with a project or service, or that its removal is still going on. */
export const RemovalReport = ({
  of,
  name,
  removed,
  done,
}: {
  of: 'project' | 'service'
  name: string
  removed: { kind: string; name: string }[]
  done: boolean
}) => (
  <Modal
    title={
      <>
        <bdi>{name}</bdi> {done ? 'is gone' : 'is being deleted'}
      </>
    }
  >
    <div class="form">
      {done ? (
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
