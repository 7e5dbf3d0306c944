import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import { report } from '../platform/journal.ts'
import type { Removed } from '../runtime/remove.ts'
import { Modal, ModalForm } from '../web/dialog.tsx'
import { Checkbox, TextField } from '../web/fields-view.tsx'
import { ButtonLink } from '../web/form.tsx'
import { show } from '../web/respond.tsx'
import { within } from '../platform/pause.ts'
import { counted } from '../web/units.ts'

/** The object to remove, with everything created for it. */
type Removal = { of: 'project' | 'service'; id: string; name: string }

type RemovalModalProps = Removal & {
  volumes: string[]
  volumesHint?: string
  /** True when its name must be typed as a confirmation. */
  typed?: boolean
  children: Child
}

export const RemovalModal = ({
  of,
  id,
  name,
  volumes,
  volumesHint = 'Their data is lost. Otherwise the volumes stay where they are.',
  typed = false,
  children,
}: RemovalModalProps) => (
  <ModalForm
    title={
      <>
        Delete <bdi>{name}</bdi>?
      </>
    }
    from={{ href: `/${of}s/${id}`, name }}
    action={`/${of}s/${id}`}
    method="DELETE"
    submit={`Delete ${of}`}
    destructive
  >
    {children}
    {volumes.length > 0 && (
      <>
        <Checkbox
          name="volumes"
          lone
          label={
            volumes.length === 1
              ? 'Delete its volume too'
              : `Delete its ${counted(volumes.length, 'volume')} too`
          }
          hint={volumesHint}
        />
        <ul class="names">
          {volumes.map((volume) => (
            <li>
              <code>{volume}</code>
            </li>
          ))}
        </ul>
      </>
    )}
    {typed && (
      <TextField
        name=""
        id="delete-name"
        label={`Type the ${of}’s name to delete it`}
        placeholder={name}
        title={`Type ${name}`}
        pattern={name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}
        autocomplete="off"
        required
        autofocus
      />
    )}
  </ModalForm>
)

/** Waits for a removal as long as a request may take, and shows what was deleted, or that it continues. */
export async function answerRemoval(
  c: Context,
  work: Promise<Removed[]>,
  { acceptTimeout, ...removal }: Removal & { acceptTimeout: number },
) {
  const { of, id, name } = removal
  const removed = await within(acceptTimeout, work)
  if (!removed) {
    work.catch((error) => report(`a ${of} was not removed`, error, { [of]: id }))
    c.header('Location', `/${of}s/${id}`)
  }
  const view = {
    title: `Delete ${name}`,
    page: () => <RemovalReport {...removal} removed={removed} />,
    json: () => ({ removed: removed ?? [] }),
  }
  return show(c, view, removed ? 200 : 202)
}

const RemovalReport = ({ of, name, removed }: Removal & { removed: Removed[] | null }) => (
  <Modal
    title={
      <>
        <bdi>{name}</bdi> {removed ? 'was deleted' : 'is being deleted'}
      </>
    }
    from={{ href: `/${of}s`, name: `${of[0]!.toUpperCase()}${of.slice(1)}s` }}
  >
    <div class="form">
      {removed ? (
        <>
          <p>What was deleted:</p>
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
          Stopping its containers takes a while. The deletion continues in the background; the {of}{' '}
          disappears from the list when it is done.
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
