import { Modal, ModalActions } from '../web/dialog.tsx'
import { Checkbox } from '../web/fields-view.tsx'
import { servicePath } from './own-service.ts'
import type { Service } from './store.ts'

/** Asks whether the volumes go too. */
export const DeleteServiceModal = ({
  service,
  volumes,
}: {
  service: Service
  volumes: string[]
}) => (
  <Modal
    title={
      <>
        Delete <bdi>{service.name}</bdi>?
      </>
    }
  >
    <form
      class="form"
      hx-delete={servicePath(service)}
      hx-target="#modal"
      hx-disable="find button[type=submit]"
    >
      <p>
        Its containers stop and go, with its network, its settings and its generated passwords. This
        cannot be undone.
      </p>
      {volumes.length > 0 && (
        <>
          <Checkbox
            name="volumes"
            lone
            label={
              volumes.length === 1
                ? 'Delete its volume too'
                : `Delete its ${volumes.length} volumes too`
            }
            hint="The data in them is lost. Left unticked, they stay on this host: note the passwords that they want first."
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
      <ModalActions>
        <button type="submit" class="btn" data-variant="destructive">
          Delete the service
        </button>
      </ModalActions>
    </form>
  </Modal>
)

/** What went with an instance, or that its removal is still going on. */
export const RemovalReport = ({
  name,
  removed,
  done,
}: {
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
          Stopping its containers takes a while. The work goes on by itself; the service disappears
          from the list when it is done.
        </p>
      )}
      <div class="form-actions">
        <a class="btn" href="/services" autofocus>
          To the services
        </a>
      </div>
    </div>
  </Modal>
)
