import { counted } from '../web/units.ts'

type Resident = { name: string; href: string }

type Props = { moves: Resident[]; stays: (Resident & { why: string; todo: string })[] }

/** What is on a server that may be drained. */
export const DrainPreview = ({ moves, stays }: Props) => (
  <>
    {moves.length + stays.length === 0 && <p>Nothing of an app or a service is on it.</p>}
    {moves.length > 0 && (
      <>
        <p>
          {counted(moves.length, 'app')} {moves.length === 1 ? 'moves' : 'move'} to other servers,
          start first: requests are answered all the time.
        </p>
        <ul>
          {moves.map((one) => (
            <li>
              <Named {...one} />
            </li>
          ))}
        </ul>
      </>
    )}
    {stays.length > 0 && (
      <>
        <p>{stays.length === 1 ? 'This stays' : 'These stay'} on the server, and run on:</p>
        <ul>
          {stays.map(({ why, todo, ...one }) => (
            <li>
              <Named {...one} />: {why} {todo}
            </li>
          ))}
        </ul>
      </>
    )}
  </>
)

const Named = ({ href, name }: Resident) => (
  <a href={href}>
    <bdi>{name}</bdi>
  </a>
)
