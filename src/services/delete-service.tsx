import { VolumesField } from '../projects/volumes-field.tsx'
import { Modal, ModalActions } from '../web/dialog.tsx'
import { PostForm } from '../web/form.tsx'
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
    <PostForm
      class="form"
      action={servicePath(service)}
      method="DELETE"
      live
      hx-target="#modal"
      hx-disable="find button[type=submit]"
    >
      <p>
        Its containers, its network, its settings and its generated passwords are deleted. This
        can’t be undone.
      </p>
      <VolumesField
        volumes={volumes}
        hint="The data in them is lost. Left unticked, they stay on this host: note the passwords that they need first."
      />
      <ModalActions>
        <button type="submit" class="btn" data-variant="destructive">
          Delete service
        </button>
      </ModalActions>
    </PostForm>
  </Modal>
)
