import { ResourceList } from '../resources/list.tsx'
import { Button, PostForm } from '../web/form.tsx'
import { Ago } from '../web/times.tsx'
import { deviceOf } from './device.ts'
import type { SessionRow } from './store.ts'

type Sessions = { sessions: SessionRow[]; currentId: string | undefined }

export const SessionList = ({ sessions, currentId }: Sessions) => (
  <ResourceList
    path="/settings/sessions"
    title="Sessions"
    about="Where you are logged in. An unused session ends within 30 days."
    action={
      sessions.length > 1 && (
        <PostForm
          action="/settings/sessions"
          method="DELETE"
          question={{ text: 'End all your other sessions?', answer: 'End sessions' }}
          replaces="#sessions"
        >
          <Button variant="outline">End all others</Button>
        </PostForm>
      )
    }
    rows={sessions.map(({ id, userAgent, address, createdAt, lastSeenAt }) => ({
      id,
      title: <span title={userAgent}>{deviceOf(userAgent)}</span>,
      label: `the session of ${deviceOf(userAgent)}`,
      badge: id === currentId && 'this browser',
      facts: [
        address,
        <>
          logged in <Ago at={createdAt} />
        </>,
        <>
          last seen <Ago at={lastSeenAt} />
        </>,
      ],
      isKept: id === currentId,
    }))}
    nextCursor={null}
    remove={{ verb: 'End', noun: 'session', asks: false }}
  />
)
