import { Button, PostForm } from '../web/form.tsx'
import { DeleteButton } from '../web/row-actions.tsx'
import { SettingsList } from '../web/settings-frame.tsx'
import { Ago } from '../web/times.tsx'
import { deviceOf } from './device.ts'
import type { SessionRow } from './store.ts'

type Sessions = { sessions: SessionRow[]; currentId: string | undefined }

export const SessionList = ({ sessions, currentId }: Sessions) => (
  <SettingsList
    id="sessions"
    aria-label="Sessions"
    about="Where you are logged in. An unused session ends within 30 days."
    action={
      sessions.length > 1 && (
        <PostForm
          action="/settings/sessions"
          method="DELETE"
          question={{ text: 'End all your other sessions?', answer: 'End sessions' }}
          hx-target="#sessions"
          hx-swap="outerHTML"
        >
          <Button variant="outline">End all others</Button>
        </PostForm>
      )
    }
    rows={sessions.map((session) => (
      <SessionRowItem session={session} isCurrent={session.id === currentId} />
    ))}
  />
)

const SessionRowItem = ({ session, isCurrent }: { session: SessionRow; isCurrent: boolean }) => (
  <li>
    <div>
      <strong title={session.userAgent}>{deviceOf(session.userAgent)}</strong>{' '}
      {isCurrent && <span class="badge">this browser</span>}
      <p class="muted">
        {session.address}, logged in <Ago at={session.createdAt} />, last seen{' '}
        <Ago at={session.lastSeenAt} />
      </p>
    </div>
    {!isCurrent && (
      <DeleteButton
        path={`/settings/sessions/${session.id}`}
        label={`End the session of ${deviceOf(session.userAgent)}`}
        target="#sessions"
        swap="outerHTML"
      >
        End
      </DeleteButton>
    )}
  </li>
)
