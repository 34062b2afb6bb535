typedef int hdx_placeholder;
