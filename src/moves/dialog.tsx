import type { Server } from '../runtime/placement.ts'
import { InfoModal, ModalForm } from '../web/dialog.tsx'
import type { Draft } from '../web/draft.ts'
import { Checkbox, SelectField } from '../web/fields-view.tsx'
import { optionsOf } from '../web/labelled-fields.ts'
import { statusInWords } from '../web/status-badge.tsx'
import { Ago } from '../web/times.tsx'
import { bytes, counted, duration } from '../web/units.ts'
import type { Preview } from './json.ts'
import type { Movable } from './preview.ts'

type Props = {
  subject: Movable
  preview: Preview
  servers: Server[]
  draft: Draft
  /** The page of what is moved. */
  path: string
}

export const MoveDialog = ({ subject, preview, servers, draft, path }: Props) => {
  const { name, kind, id } = subject
  const nameOf = (serverId: string) =>
    servers.find((one) => one.id === serverId)?.name ?? 'a server that was removed'
  const title = (
    <>
      Move <bdi>{name}</bdi> to another server
    </>
  )
  const from = { href: path, name }
  const possible = preview.servers.filter(({ refused }) => refused === null)
  const refused = preview.servers.filter(({ refused }) => refused !== null)
  const about = (
    <>
      <p>
        It is on <bdi>{nameOf(preview.from)}</bdi>. {whatMoves(preview)}
      </p>
      {refused.length > 0 && (
        <ul class="names">
          {refused.map(({ name, refused }) => (
            <li>
              Not to <bdi>{name}</bdi>: {refused}
            </li>
          ))}
        </ul>
      )}
      <LastMove last={preview.last} nameOf={nameOf} />
    </>
  )
  if (possible.length === 0)
    return (
      <InfoModal title={title} from={from}>
        {about}
        {refused.length === 0 && (
          <p>
            There is no other server. An admin can add one under{' '}
            <a href="/settings/servers">Settings, Servers</a>.
          </p>
        )}
      </InfoModal>
    )
  return (
    <ModalForm
      title={title}
      from={from}
      action={`/${kind === 'service' ? 'services' : 'envs'}/${id}/move`}
      submit="Move"
      draft={draft}
    >
      {about}
      <SelectField
        name="server"
        label="Server"
        value={possible[0]!.id}
        options={optionsOf(possible)}
      />
      {preview.backupFirst && (
        <Checkbox
          name="backup_first"
          label="Back it up first"
          hint="If the backup fails, it stays where it is."
          value
        />
      )}
    </ModalForm>
  )
}

function whatMoves({ volumes, bytes: size, outageSeconds, last }: Preview) {
  if (volumes.length === 0)
    return 'It has no volumes: it starts on the other server before it stops here.'
  const what = `${counted(volumes.length, 'volume')}${size === null ? '' : `, ${bytes(size)},`}`
  const outage =
    outageSeconds === null
      ? 'How long isn’t known before its first backup or move.'
      : `That is likely to take ${duration(outageSeconds * 1000)}.`
  return `It stops, its ${what} ${volumes.length === 1 ? 'is' : 'are'} copied, and it starts there: until then it doesn’t respond. ${outage} If anything fails, it starts again here, with all it had. Otherwise that stays here for seven days${last?.leftUntil ? ', and what its last move left is deleted first' : ''}.`
}

const LastMove = ({
  last,
  nameOf,
}: Pick<Preview, 'last'> & { nameOf: (serverId: string) => string }) => {
  if (!last) return <></>
  const route = `from ${nameOf(last.from)} to ${nameOf(last.to)}`
  return (
    <p class="muted">
      {last.status === 'succeeded' ? 'Moved' : `Its move (${statusInWords(last.status)})`} {route}{' '}
      <Ago at={new Date(last.createdAt)} />
      {last.outageMs !== null && `: no response for ${duration(last.outageMs)}`}
      {last.error && `: ${last.error}`}
    </p>
  )
}
