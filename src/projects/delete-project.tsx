import type { projects } from '../db/schema.ts'
import { ModalForm } from '../web/dialog.tsx'
import { TextField } from '../web/fields-view.tsx'
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
  <ModalForm
    title={
      <>
        Delete <bdi>{project.name}</bdi>?
      </>
    }
    action={`/projects/${project.id}`}
    method="DELETE"
    submit="Delete project"
    destructive
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
  </ModalForm>
)

/** A pattern attribute that fits this text only. */
const literalPattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
