import type { projects } from '../db/schema.ts'
import { Modal, ModalActions } from '../web/dialog.tsx'
import { TextField } from '../web/fields-view.tsx'
import { PostForm } from '../web/form.tsx'
import { VolumesField } from './volumes-field.tsx'

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
    <PostForm
      class="form"
      action={`/projects/${project.id}`}
      method="DELETE"
      live
      hx-target="#modal"
      hx-disable="find button[type=submit]"
    >
      <p>
        Its containers, their images, its network, its mirror of the repository, its deployments and
        their logs are deleted. This can’t be undone.
      </p>
      <VolumesField
        volumes={volumes}
        hint="The data in them is lost. Left unticked, they stay on this host."
      />
      <TextField
        name=""
        id="delete-name"
        label="Type the project’s name to delete it"
        placeholder={project.name}
        pattern={literalPattern(project.name)}
        autocomplete="off"
        required
        autofocus
      />
      <ModalActions>
        <button type="submit" class="btn" data-variant="destructive">
          Delete project
        </button>
      </ModalActions>
    </PostForm>
  </Modal>
)

/** A pattern attribute that fits this text only. */
const literalPattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
