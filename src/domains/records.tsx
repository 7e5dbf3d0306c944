import { isIPv4 } from 'node:net'
import { CopyButton } from '../web/copy.tsx'

type Props = {
  host: string
  addresses: string[]
  found?: string[]
}

export const DnsRecords = ({ host, addresses, found = [] }: Props) => {
  const missing = addresses.filter((address) => !found.includes(address))
  if (missing.length === 0) return null
  const [verb, records] = [
    found.length > 0 ? 'Set' : 'Create',
    missing.length === 1 ? 'this record' : 'these records',
  ]
  return (
    <>
      <p>
        {verb} {records} at your DNS provider:
      </p>
      <ul class="dns-records">
        {missing.map((address) => (
          <li>
            <span class="tag">{isIPv4(address) ? 'A' : 'AAAA'}</span>
            <code>{host}</code>
            <CopyButton text={host} what={host} />
            <span aria-label="leads to">→</span>
            <code>{address}</code>
            <CopyButton text={address} what={address} />
          </li>
        ))}
      </ul>
    </>
  )
}
