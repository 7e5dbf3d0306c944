import type { projects } from '../db/schema.ts'
import { Modal, ModalActions } from '../web/dialog.tsx'
import { Checkbox, TextField } from '../web/fields-view.tsx'

type Project = typeof projects.$inferSelect

/** Asks for the project's name, and whether its volumes go too. */
export const DeleteProjectModal = ({
  project,
  volumes,
}: {
  project: Project
  volumes: string[]
}) => (
  <Modal
    title={
      <>
        Delete <bdi>{project.name}</bdi>?
      </>
    }
  >
    <form
      class="form"
      hx-delete={`/projects/${project.id}`}
      hx-target="#modal"
      hx-disable="find button[type=submit]"
    >
      <p>
        Its containers stop and go, with their images, its network, its mirror of the repository,
        its deployments and their logs. This cannot be undone.
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
            hint="The data in them is lost. Left unticked, they stay on this host."
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
      <TextField
        name=""
        id="delete-name"
        label="Type the project’s name to go on"
        placeholder={project.name}
        pattern={literalPattern(project.name)}
        autocomplete="off"
        required
        autofocus
      />
      <ModalActions>
        <button type="submit" class="btn" data-variant="destructive">
          Delete the project
        </button>
      </ModalActions>
    </form>
  </Modal>
)

/** What went with a project, or that its removal is still going on. */
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
          Stopping its containers takes a while. The work goes on by itself; the project disappears
          from the list when it is done.
        </p>
      )}
      <div class="form-actions">
        <a class="btn" href="/projects" autofocus>
          To the projects
        </a>
      </div>
    </div>
  </Modal>
)

/** A pattern attribute that fits this text only. */
const literalPattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
