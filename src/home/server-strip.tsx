import { Fact, DocLink } from '../web/components.tsx'
import { version } from '../platform/root.ts'
import { bytes, counted, percent } from '../web/units.ts'
import { Used } from '../web/used.tsx'
import type { Engine, Server } from './server.ts'

export const ServerStrip = ({
  server: { busy, load, processors, memory, disk },
  engine,
  newer,
}: {
  server: Server
  engine: Engine
  /** A newer version of Davit; null for users who can't install it. */
  newer: string | null
}) => (
  <dl class="server-strip">
    {busy === null ? (
      <Fact name="Load">
        <Used share={load / processors} label="Processor load">
          {load.toFixed(2)} on {counted(processors, 'core')}
        </Used>
      </Fact>
    ) : (
      <Fact name="Processor">
        <Used share={busy} label="Processor usage">
          {percent(busy * 100)} of {counted(processors, 'core')}
        </Used>
      </Fact>
    )}
    <Fact name="Memory">
      <Used share={memory.used / memory.size} label="Used memory">
        {bytes(memory.used)} of {bytes(memory.size)}
      </Used>
    </Fact>
    {disk && (
      <Fact name="Disk">
        <Used share={disk.used / 100} label="Used disk">
          {bytes(disk.size - disk.free)} of {bytes(disk.size)}
        </Used>
      </Fact>
    )}
    <Fact name="Docker">{engine.ok ? engine.detail : 'Doesn’t respond'}</Fact>
    {newer && (
      <Fact name="Davit">
        {version}, <DocLink doc="upgrade">{newer} is available</DocLink>
      </Fact>
    )}
  </dl>
)
