import { VolumesField } from '../projects/volumes-field.tsx'
import { ModalForm } from '../web/dialog.tsx'
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
  <ModalForm
    title={
      <>
        Delete <bdi>{service.name}</bdi>?
      </>
    }
    action={servicePath(service)}
    method="DELETE"
    submit="Delete service"
    destructive
  >
    <p>
      Its containers, its network, its settings and its generated passwords are deleted. This can’t
      be undone.
    </p>
    <VolumesField
      volumes={volumes}
      hint="The data in them is lost. Left unticked, they stay on this host: note the passwords that they need first."
    />
  </ModalForm>
)
