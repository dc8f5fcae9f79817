/** Keys that other programs read from the same files: known, so that nobody is warned about them. */
import { z } from 'zod';
import { anything, ELSEWHERE, flag, key, list, text } from './setting-key.schema.js';

export const accountSettings = {
  forceLoginMethod: key(text(), 'How to log in.', ELSEWHERE),
  forceLoginOrgUUID: key(z.union([text(), list()]), 'Who may log in.', ELSEWHERE),
  forceLoginGatewayUrl: key(text(), 'Where to log in.', ELSEWHERE),
  gatewayInternalNetworks: key(anything(), 'Networks of a gateway.', ELSEWHERE),
  autoUpdatesChannel: key(text(), 'Updates.', ELSEWHERE),
  minimumVersion: key(text(), 'Updates.', ELSEWHERE),
  requiredMinimumVersion: key(text(), 'Versions of another program.', ELSEWHERE),
  requiredMaximumVersion: key(text(), 'Versions of another program.', ELSEWHERE),
  parentSettingsBehavior: key(text(), 'Settings of the host.', ELSEWHERE),
  managedSourcesBehavior: key(text(), 'Several managed sources.', ELSEWHERE),
  forceRemoteSettingsRefresh: key(flag(), 'Remote settings.', ELSEWHERE),
  wslInheritsWindowsSettings: key(flag(), 'Windows.', ELSEWHERE),
  remoteControlAtStartup: key(flag(), 'Remote control.', ELSEWHERE),
  disableRemoteControl: key(flag(), 'Remote control.', ELSEWHERE),
};

/** Read from the user's own file. */
export const terminalSettings = {
  theme: key(
    text(),
    'Colours: `auto`, `dark` or `light`, each also with `-daltonized` or `-ansi`.',
  ),
  editorMode: key(text(), '`vim` gives the prompt vim keys.'),
};

export const lookAndFeel = Object.fromEntries(
  `tui vimInsertModeRemaps keybindingFlavor verbose viewMode
  syntaxHighlightingDisabled prefersReducedMotion axScreenReader showTurnDuration
  showMessageTimestamps timeFormat timeZone maxProseWidth spinnerTipsEnabled spinnerTipsOverride
  spinnerVerbs terminalProgressBarEnabled terminalTitleFromRename autoScrollEnabled
  wheelScrollAccelerationEnabled emojiCompletionEnabled spellcheck voice voiceEnabled
  promptSuggestionEnabled footerLinksRegexes companyAnnouncements prUrlTemplate defaultView
  askUserQuestionTimeout dialogExpiry showClearContextOnPlanAccept preferredNotifChannel
  inputNeededNotifEnabled agentPushNotifEnabled awaySummaryEnabled respondToBashCommands
  feedbackSurveyRate feedbackDrafts disableArtifact enableArtifact remote sshConfigs
  sshHostAllowlist sshHostCommands disableDeepLinkRegistration browserExternalPageTools
  disableBrowserExternalNavigation disableMobileSimulatorTools desktopSessionCleanupPeriodDays
  attributionProject attributionProjectPolicy autoConnectIde autoInstallIdeExtension diffTool
  externalEditorContext permissionExplainerEnabled teammateDefaultModel`
    .split(/\s+/)
    .map((name) => [name, key(anything(), '', ELSEWHERE)]),
) as Record<string, z.ZodOptional<z.ZodUnknown>>;
