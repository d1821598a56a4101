{{- define "millrace.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "millrace.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "millrace.labels" -}}
{{ include "millrace.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "millrace.secret" -}}
{{- .Values.secrets.existing | default (include "millrace.name" .) }}
{{- end }}

{{- define "millrace.roles" -}}
{{- if . }}{{ join "," . }}{{ else }}api,ingest,delivery,worker{{ end -}}
{{- end }}

{{- define "millrace.check" -}}
{{- $servers := 0 }}
{{- range $group, $each := .Values.groups }}
{{- $servers = add $servers $each.replicas }}
{{- $roles := splitList "," (include "millrace.roles" $each.roles | trim) }}
{{- if ne (has "api" $roles) (has "delivery" $roles) }}
{{- fail (printf "groups.%s: a group needs both of the roles api and delivery, or none, because clients reach them at one address." $group) }}
{{- end }}
{{- end }}
{{- $isShared := or .Values.hasSharedEngines (and .Values.secrets.databaseUrl .Values.secrets.storageUrl) }}
{{- if and (gt (int $servers) 1) (not $isShared) }}
{{- fail "More than one server needs a database and a storage: set secrets.databaseUrl and secrets.storageUrl, or secrets.existing and hasSharedEngines." }}
{{- end }}
{{- if and (gt (int $servers) 1) (not .Values.nodeDomain) }}
{{- fail "More than one server needs nodeDomain, where viewers reach each of them." }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.publicUrl) }}
{{- fail "The ingress needs publicUrl." }}
{{- end }}
{{- end }}
