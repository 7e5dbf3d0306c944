import type { UserRow } from '../accounts/store.ts'
import { Choice } from '../web/choice.tsx'
import { ModalForm } from '../web/dialog.tsx'
import type { User } from '../web/factory.ts'
import { Checkbox, SelectField } from '../web/fields-view.tsx'

export type Belongings = { projects: string[]; services: string[] }

type Props = {
  user: UserRow
  viewer: User
  belongings: Belongings
  heirs: Pick<User, 'id' | 'email'>[]
}

/** Asks what to do with the user's projects and services. */
export const DeleteUserModal = ({ user, viewer, belongings, heirs }: Props) => (
  <ModalForm
    title={
      <>
        Delete <bdi>{user.email}</bdi>?
      </>
    }
    from={{ href: '/settings/users', name: 'Users' }}
    action={`/settings/users/${user.id}`}
    method="DELETE"
    submit="Delete user"
    destructive
  >
    <p>
      Their sessions, API tokens and linked logins end at once, and their queued and running jobs
      are cancelled. This can’t be undone.
    </p>
    {hasSome(belongings) && (
      <>
        <Names title="Projects" names={belongings.projects} />
        <Names title="Services" names={belongings.services} />
        <Choice
          name="belongings"
          value="give"
          label="Transfer to another user"
          chosen
          hint="They keep running. Git sources and registry logins are transferred too, and webhook secrets are replaced."
        />
        <SelectField
          name="heir_id"
          label="New owner"
          value={viewer.id}
          options={heirs.map(({ id, email }) => ({
            value: id,
            label: id === viewer.id ? `${email} (you)` : email,
          }))}
        />
        <Choice
          name="belongings"
          value="delete"
          label="Delete them"
          hint="Their containers, images and networks are removed."
        />
        <Checkbox
          name="volumes"
          lone
          label="Delete their volumes too"
          hint="Their data is lost. Otherwise the volumes stay where they are."
        />
      </>
    )}
  </ModalForm>
)

const hasSome = ({ projects, services }: Belongings) => projects.length + services.length > 0

const Names = ({ title, names }: { title: string; names: string[] }) =>
  names.length > 0 && (
    <div>
      <p class="muted">{title}</p>
      <ul class="names">
        {names.map((name) => (
          <li>
            <bdi>{name}</bdi>
          </li>
        ))}
      </ul>
    </div>
  )
