import type { User } from '../web/factory.ts'
import { Button, PostForm } from '../web/form.tsx'
import { DeleteButton } from '../web/row-actions.tsx'
import { SettingsFrame } from '../web/settings-frame.tsx'
import { Ago } from '../web/times.tsx'
import { deviceOf } from './device.ts'
import type { SessionRow } from './store.ts'

type Sessions = { sessions: SessionRow[]; currentId: string | undefined }

export const SessionsPage = ({ user, ...list }: Sessions & { user: User }) => (
  <SettingsFrame user={user} path="/settings/sessions">
    <SessionList {...list} />
  </SettingsFrame>
)

export const SessionList = ({ sessions, currentId }: Sessions) => (
  <section id="sessions" aria-label="Sessions">
    <div class="section-head">
      <p class="muted">Where you are logged in. A session that is not used ends within 30 days.</p>
      {sessions.length > 1 && (
        <PostForm
          action="/settings/sessions"
          method="DELETE"
          live
          question={{ text: 'End all your other sessions?', answer: 'End sessions' }}
          hx-target="#sessions"
          hx-swap="outerHTML"
        >
          <Button variant="outline">End all others</Button>
        </PostForm>
      )}
    </div>
    <ul class="rows">
      {sessions.map((session) => (
        <SessionRowItem session={session} isCurrent={session.id === currentId} />
      ))}
    </ul>
  </section>
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
