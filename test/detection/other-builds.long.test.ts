import { otherApps } from './other-apps.ts'
import { testRealBuilds } from './real-builds.ts'

testRealBuilds(otherApps)
