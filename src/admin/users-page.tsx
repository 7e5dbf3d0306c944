import type { Config } from '../config.ts'
import { ResourceList } from '../resources/list.tsx'
import type { User } from '../web/factory.ts'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import type { Question } from '../web/form.tsx'
import { Ago } from '../web/times.tsx'
import type { listUsers, UserRow } from '../accounts/store.ts'
import { counted } from '../web/units.ts'

type Users = {
  viewer: User
  users: ReturnType<typeof listUsers>
  nextCursor: string | null
  registration: Config['registration']
}

export const UserList = ({ viewer, users, nextCursor, registration }: Users) => (
  <ResourceList
    path="/settings/users"
    title="Users"
    about={
      <>
        {registrations[registration]} The setting <code>DAVIT_REGISTRATION</code> decides it:{' '}
        <code>closed</code>, <code>invite</code> or <code>open</code>.
      </>
    }
    action={
      registration === 'invite' && <ButtonLink href="/settings/invites">Invite user</ButtonLink>
    }
    rows={users.map(({ user, projects, services }) => ({
      id: user.id,
      name: user.email,
      tags: [
        user.role === 'admin' && 'admin',
        user.disabledAt && (user.deletingAt ? 'being deleted' : 'disabled'),
        user.id === viewer.id && 'you',
      ],
      facts: [
        user.name && <bdi>{user.name}</bdi>,
        counted(projects, 'project'),
        counted(services, 'service'),
        <>
          joined <Ago at={user.createdAt} />
        </>,
      ],
      actions: user.id !== viewer.id && <Actions user={user} />,
    }))}
    nextCursor={nextCursor}
  />
)

const registrations = {
  closed: 'Registration is closed: new accounts can’t be created.',
  invite: 'Registration is by invitation.',
  open: 'Registration is open: anyone who can reach this Davit can create an account.',
}

const Actions = ({ user }: { user: UserRow }) => (
  <>
    {!user.deletingAt && changesOf(user).map((change) => <ChangeForm user={user} {...change} />)}
    <ButtonLink
      quiet
      variant="ghost"
      small
      aria-label={`Delete ${user.email}`}
      opens={`/settings/users/${user.id}/delete`}
    >
      Delete…
    </ButtonLink>
  </>
)

type Change = {
  name: 'role' | 'disabled'
  value: string
  label: string
  question?: Question
}

const changesOf = ({ email, role, disabledAt }: UserRow): Change[] => [
  role === 'admin'
    ? { name: 'role', value: 'member', label: 'Make member' }
    : {
        name: 'role',
        value: 'admin',
        label: 'Make admin',
        question: {
          text: `Make ${email} an admin? Admins see every container and every user.`,
          answer: 'Make admin',
        },
      },
  disabledAt
    ? { name: 'disabled', value: '0', label: 'Enable' }
    : {
        name: 'disabled',
        value: '1',
        label: 'Disable',
        question: {
          text: `Disable ${email}? Their sessions and tokens end, and their queued and running jobs are cancelled. Their apps keep running.`,
          answer: 'Disable user',
        },
      },
]

const ChangeForm = ({ user, name, value, label, question }: Change & { user: UserRow }) => (
  <PostForm
    action={`/settings/users/${user.id}`}
    method="PUT"
    replaces="#users"
    question={question}
  >
    <input type="hidden" name={name} value={value} />
    <Button variant="outline" small aria-label={`${label}: ${user.email}`}>
      {label}
    </Button>
  </PostForm>
)
